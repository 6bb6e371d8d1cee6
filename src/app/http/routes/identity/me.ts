import { z } from 'zod';
import { adminUserView } from '../../../../../queries/admins/admin-user-view.ts';
import { getAdminUser } from '../../../../../queries/admins/get-admin-user.ts';
import { getTenant } from '../../../../../queries/tenants/get-tenant.ts';
import { tiers } from '../../../../contexts/tenants/domain/license.ts';
import { confirmAdminPassword, type AdminSignInDependencies } from '../../../../contexts/identity/admin-sign-in.ts';
import {
  issueReauthentication,
  REAUTHENTICATION_SECONDS,
  type ReauthenticationDependencies,
} from '../../../../contexts/identity/reauthentication.ts';
import { presentedPassword } from '../../../../contexts/identity/domain/password-rule.ts';
import { adminEvenUnlicensed } from '../../access.ts';
import { permissionsOf } from '../../../../contexts/identity/domain/permissions.ts';
import { actorOf } from '../../principal.ts';
import { routeWith, type RouteGroup } from '../../route.ts';

export interface MeRouteDependencies extends AdminSignInDependencies, ReauthenticationDependencies {}

const route = routeWith<MeRouteDependencies>();

export const meRoutes: RouteGroup<MeRouteDependencies> = {
  area: 'admin-me',
  routes: [
    route({
      method: 'GET',
      path: '/api/v1/admin/me',
      access: adminEvenUnlicensed('self:read'),
      summary: 'Get the calling admin, their permissions and tenant',
      response: adminUserView.extend({
        permissions: z.array(z.string()),
        tenant: z.object({ id: z.uuid(), name: z.string(), slug: z.string(), tier: z.enum(tiers).nullable() }),
      }),
      handle: async ({ ask, principal }) => {
        const [user, tenant] = await Promise.all([
          ask(getAdminUser, { adminId: principal.adminId }),
          ask(getTenant, undefined),
        ]);
        const { id, name, slug, license } = tenant;
        return {
          ...user,
          permissions: permissionsOf(principal.role),
          tenant: { id, name, slug, tier: license?.tier ?? null },
        };
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/admin/verify-password',
      access: adminEvenUnlicensed('self:write'),
      summary: 'Get a re-authentication token',
      issuesProof: true,
      operation: 'reauthenticate',
      refuses: ['account_locked', 'invalid_credentials'],
      description:
        'Confirms the password. The token is valid for 300 seconds in this session, for any number of requests.',
      body: z.object({ password: presentedPassword }),
      response: z.object({ reAuthToken: z.string(), expiresIn: z.int() }),
      handle: async ({ body, services, principal, request }) => {
        const { tenantId, adminId, sessionId } = principal;
        const actor = actorOf(principal, request);
        await confirmAdminPassword(services, { tenantId, adminId, sessionId }, body.password, actor);
        return {
          reAuthToken: await issueReauthentication(services, { tenantId, adminId, sessionId }),
          expiresIn: REAUTHENTICATION_SECONDS,
        };
      },
    }),
  ],
};
