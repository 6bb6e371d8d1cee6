import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents } from '../../../platform/kernel/event.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';

/**
 * Roles of the mobile access map. No admin can have `executive`, and the map has no `viewer` (interface, "Settings").
 */
export const mobileRoles = ['super_admin', 'admin', 'analyst', 'executive'] as const;
const mobileRoleSchema = z.enum(mobileRoles);
export type MobileRole = (typeof mobileRoles)[number];
export type MobileAccess = Readonly<Record<MobileRole, boolean>>;

/** Roles that may use the mobile app. The admin's own flag must be true as well (choice OP-046). */
export const mobileAccessEvents = defineEvents('mobileAccess', {
  MobileAccessByRoleSet: {
    version: 1,
    schema: z.object({ mobileAccess: z.partialRecord(mobileRoleSchema, z.boolean()) }),
    audit: 'mobile_access.set_by_role',
  },
});

const initial: MobileAccess = { super_admin: true, admin: true, analyst: true, executive: false };

export const mobileAccess = defineAggregate<MobileAccess, typeof mobileAccessEvents>(
  mobileAccessEvents,
  initial,
  (state, { data }) => ({
    ...state,
    ...data.mobileAccess,
  }),
);

/** Each tenant has one such stream. */
export const mobileAccessStream = (tenantId: TenantId): string => streamName('mobileAccess', tenantId, tenantId);
