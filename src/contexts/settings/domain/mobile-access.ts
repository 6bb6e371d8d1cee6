import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents } from '../../../platform/kernel/event.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';

/** Roles of the mobile map: `executive` is none that an admin can have, `viewer` none that the map knows (interface, "Settings"). */
export const mobileRoles = ['super_admin', 'admin', 'analyst', 'executive'] as const;
const mobileRoleSchema = z.enum(mobileRoles);
export type MobileRole = (typeof mobileRoles)[number];
export type MobileAccess = Readonly<Record<MobileRole, boolean>>;

/** Which roles may use the mobile app; an admin's own flag has to be true besides (choice OP-046). */
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

/** A tenant has one such stream. */
export const mobileAccessStream = (tenantId: TenantId): string => streamName('mobileAccess', tenantId, tenantId);
