import { z } from 'zod';
import { setAlertSeverities } from '../../../../../commands/settings/set-alert-severities.ts';
import { setMobileAccessByRole } from '../../../../../commands/settings/set-mobile-access-by-role.ts';
import { getAlertSeverities } from '../../../../../queries/settings/get-alert-severities.ts';
import { alertTypeSchema, severitySchema } from '../../../../contexts/alerts/domain/vocabulary.ts';
import type { MobileRole } from '../../../../contexts/settings/domain/mobile-access.ts';
import { retentionUnder } from '../../../../contexts/settings/domain/retention.ts';
import { FailureError, unavailable } from '../../../../platform/kernel/failure.ts';
import { admin, adminReauthenticatedWhere } from '../../access.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import type { Config } from '../../../config/config.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';

export interface SettingsRouteDependencies {
  readonly config: Pick<Config, 'eventRetentionDays' | 'streamRetentionDays'>;
  readonly lookups: Lookups;
}

const route = routeWith<SettingsRouteDependencies>();

const base = '/api/v1/admin/settings';
const severities = z.object({ severities: z.record(alertTypeSchema, severitySchema) });
const mobileAccess = z.object({
  super_admin: z.boolean(),
  admin: z.boolean(),
  analyst: z.boolean(),
  executive: z.boolean(),
} satisfies Record<MobileRole, z.ZodBoolean>);
const days = z.int().min(1);

/** Settings that are not a declared record: maps that merge, and values that operator and license determine. */
export const settingsRoutes: RouteGroup<SettingsRouteDependencies> = {
  area: 'settings',
  routes: [
    route({
      method: 'GET',
      path: `${base}/alert-severity`,
      access: admin('settings:read'),
      summary: 'Get the severities of new alerts by type',
      response: severities,
      tagged: (shown: object) => shown,
      handle: ({ ask }) => ask(getAlertSeverities, undefined),
    }),
    route({
      method: 'PUT',
      path: `${base}/alert-severity`,
      access: adminReauthenticatedWhere('settings:write', 'alerts of a type become less severe'),
      summary: 'Change the severities of new alerts',
      description: 'Types that are left out keep their values.',
      body: z.object({ severities: z.partialRecord(alertTypeSchema, severitySchema) }),
      response: severities,
      tagged: (shown: object) => shown,
      handle: async ({ run, body, principal: { reauthenticated } }) =>
        (await run(setAlertSeverities, { ...body, reauthenticated })).result,
    }),
    route({
      method: 'PUT',
      path: `${base}/mobile-access-by-role`,
      access: adminReauthenticatedWhere('settings:write', 'a role loses access'),
      summary: 'Change which roles may use the mobile app',
      description: 'Roles that are left out keep their values. Only a super admin takes access from super admins.',
      // An object of optional members, so that unknown keys are ignored (choice OP-047).
      body: z.object({ mobileAccess: mobileAccess.partial() }),
      response: z.object({ mobileAccess }),
      handle: async ({ run, body, principal: { reauthenticated, role } }) =>
        (await run(setMobileAccessByRole, { ...body, reauthenticated, isSuperAdmin: role === 'super_admin' })).result,
    }),
    route({
      method: 'GET',
      path: `${base}/retention`,
      access: admin('retention:read'),
      summary: 'Get the retention of telemetry',
      refuses: ['license_missing'],
      description: 'In days: the effective values and the maxima of the license.',
      response: z.object({
        eventRetentionDays: days,
        streamRetentionDays: days,
        maxEventRetentionDays: days,
        maxStreamRetentionDays: days,
        updatedAt: z.iso.datetime(),
      }),
      handle: async ({ services, principal: { tenantId } }) => {
        const tenant = await services.lookups.tenant(tenantId, tenantId);
        if (!tenant?.license) throw new FailureError(unavailable('license_missing'));
        return retentionUnder(tenant.license, services.config);
      },
    }),
  ],
};
