import { z } from 'zod';
import { registerMobileDevice } from '../../../../../commands/mobile/register-mobile-device.ts';
import { removeMobileDevice } from '../../../../../commands/mobile/remove-mobile-device.ts';
import { setMobilePreferences } from '../../../../../commands/mobile/set-mobile-preferences.ts';
import { getMobilePreferences } from '../../../../../queries/mobile/get-mobile-preferences.ts';
import {
  getMobileDevice,
  listMobileDevices,
  mobileDeviceView,
  viewOfNewMobileDevice,
} from '../../../../../queries/mobile/mobile-device-view.ts';
import { alertTypes, alertTypeSchema, severitySchema } from '../../../../contexts/alerts/domain/vocabulary.ts';
import { mobilePlatforms } from '../../../../contexts/mobile/domain/events.ts';
import { MAX_MOBILE_DEVICES } from '../../../../contexts/mobile/domain/mobile-account.ts';
import { mayUseMobile } from '../../../../contexts/mobile/domain/mobile-eligibility.ts';
import { mobilePreferences } from '../../../../contexts/mobile/domain/preferences.ts';
import { mobileAccess, mobileAccessStream } from '../../../../contexts/settings/domain/mobile-access.ts';
import { tenant, tenantStream } from '../../../../contexts/tenants/domain/tenant.ts';
import type { AggregateReader } from '../../../../platform/kernel/aggregate.ts';
import { FailureError, forbidden } from '../../../../platform/kernel/failure.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { timeZoneField } from '../../../../platform/time-zones/time-zone-field.ts';
import { admin, adminReauthenticatedWhere } from '../../access.ts';
import type { AdminPrincipal } from '../../principal.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { nameField } from '../../../../platform/kernel/name-field.ts';

export interface MobileRouteDependencies {
  readonly loader: AggregateReader;
}

const route = routeWith<MobileRouteDependencies>();

const base = '/api/v1/admin/mobile';
const devices = `${base}/devices`;
const refuses = ['mobile_access_denied'] as const;

/** OP-192. Throws a 403. */
async function requireMobileAccess(
  { loader }: MobileRouteDependencies,
  { tenantId, adminId }: AdminPrincipal,
): Promise<void> {
  const [{ admins }, byRole] = await Promise.all([
    loader.load(tenant, tenantStream(tenantId)),
    loader.load(mobileAccess, mobileAccessStream(tenantId)),
  ]);
  if (!mayUseMobile(admins.get(adminId), byRole)) throw new FailureError(forbidden('mobile_access_denied'));
}

const line = (characters: number) =>
  z
    .string()
    .trim()
    .max(characters)
    .regex(/^\P{Cc}*$/u, 'must not hold control characters');

const newDevice = z.object({
  platform: z.enum(mobilePlatforms),
  pushToken: z
    .string()
    .min(8)
    .max(4_096)
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
    .describe('The token of the push service. It is stored encrypted, and never returned.'),
  deviceName: nameField({ min: 0 }).nullish(),
  appVersion: line(50).nullish(),
});

const time = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time as HH:MM')
  .optional();
const preferenceChanges = z.object({
  pushEnabled: z.boolean().optional(),
  minSeverity: severitySchema.optional(),
  alertTypes: z
    .array(alertTypeSchema)
    .max(alertTypes.length)
    .transform((types) => [...new Set(types)])
    .optional()
    .describe('Empty: all types'),
  onlyWhenOnCall: z.boolean().optional(),
  quietHours: z
    .object({ enabled: z.boolean().optional(), start: time, end: time, timezone: timeZoneField.optional() })
    .optional(),
});

/** An administrator's own devices and preferences for pushes (F206). */
export const mobileRoutes: RouteGroup<MobileRouteDependencies> = {
  area: 'mobile',
  routes: [
    route({
      method: 'GET',
      path: devices,
      access: admin('self:read'),
      summary: "List the calling admin's mobile devices",
      refuses,
      response: z.object({ devices: z.array(mobileDeviceView), total: z.int() }),
      handle: async ({ ask, services, principal }) => {
        await requireMobileAccess(services, principal);
        return ask(listMobileDevices, { adminId: principal.adminId });
      },
    }),
    route({
      method: 'POST',
      path: devices,
      access: admin('self:write'),
      summary: 'Register a mobile device of the calling admin',
      description: `Returns 201 for a new push token. A token that the account has already updates its device (200). An account may have ${MAX_MOBILE_DEVICES} devices (409).`,
      refuses,
      body: newDevice,
      response: mobileDeviceView,
      otherwise: { 201: mobileDeviceView },
      handle: async ({ run, created, ask, reply, services, principal, body }) => {
        await requireMobileAccess(services, principal);
        const { adminId } = principal;
        const device = { ...body, deviceName: body.deviceName ?? null, appVersion: body.appVersion ?? null };
        const executed = await run(registerMobileDevice, { adminId, ...device });
        const { deviceId, isNew } = executed.result;
        if (!isNew) return ask(getMobileDevice, { adminId, deviceId });
        reply.status(201);
        return created(executed, getMobileDevice, { adminId, deviceId }, viewOfNewMobileDevice(deviceId));
      },
    }),
    route({
      method: 'DELETE',
      path: `${devices}/{deviceId}`,
      access: admin('self:write'),
      summary: 'Unregister a mobile device of the calling admin',
      description: 'Its push token is destroyed.',
      refuses,
      params: z.object({ deviceId: uuid() }),
      handle: async ({ run, services, principal, params: { deviceId } }) => {
        await requireMobileAccess(services, principal);
        await run(removeMobileDevice, { adminId: principal.adminId, deviceId, reason: 'unregistered' });
      },
    }),
    route({
      method: 'GET',
      path: `${base}/preferences`,
      access: admin('self:read'),
      summary: "Get the calling admin's push preferences",
      refuses,
      response: mobilePreferences,
      handle: async ({ ask, services, principal }) => {
        await requireMobileAccess(services, principal);
        return ask(getMobilePreferences, { adminId: principal.adminId });
      },
    }),
    route({
      method: 'PUT',
      path: `${base}/preferences`,
      access: adminReauthenticatedWhere(
        'self:write',
        'you would no longer be called about alerts of type `policy_violation` and severity `high`: pushes off, another severity or type, or quiet hours of more than 16 hours a day',
      ),
      summary: "Change the calling admin's push preferences",
      description:
        'Fields that are left out keep their values, also within `quietHours`. Quiet hours hold in their time zone; an end before the start is on the next day. Critical alerts ignore them.',
      refuses,
      body: preferenceChanges,
      response: mobilePreferences,
      handle: async ({ run, ask, services, principal, body: { quietHours = {}, ...changes } }) => {
        await requireMobileAccess(services, principal);
        const { adminId, reauthenticated } = principal;
        await run(setMobilePreferences, { adminId, changes, quietHours, reauthenticated });
        return ask(getMobilePreferences, { adminId });
      },
    }),
  ],
};
