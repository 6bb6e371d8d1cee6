import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { SETUP_CLAIM, setUpTenant } from '../../../../../commands/tenants/set-up-tenant.ts';
import { getAdminUser, viewOfNewAdminUser } from '../../../../../queries/admins/get-admin-user.ts';
import { adminUserView } from '../../../../../queries/admins/admin-user-view.ts';
import { emailField, newPassword, refuseGuessable } from '../../../../contexts/identity/domain/password-rule.ts';
import { baseUrlField } from '../../../../contexts/tenants/domain/base-url.ts';
import { tiers } from '../../../../contexts/tenants/domain/license.ts';
import { openSession, type SignInDependencies } from '../../../../contexts/identity/sign-in.ts';
import { FailureError, forbidden, type FieldError } from '../../../../platform/kernel/failure.ts';
import { asTenantId, INSTALLATION } from '../../../../platform/kernel/ids.ts';
import { openAccess } from '../../access.ts';
import { textAt } from '../../plain-addresses.ts';
import { actorOf } from '../../principal.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import type { Config } from '../../../config/config.ts';
import type { WithClaimHolder, WithLicensePublicKey } from '../../../../../commands/ports.ts';
import { foreseeLicense } from './license.ts';
import { nameField } from '../../../../platform/kernel/name-field.ts';

export interface SetupRouteDependencies extends SignInDependencies {
  readonly config: Pick<Config, 'devMode'>;
  readonly ports: WithClaimHolder & WithLicensePublicKey;
}

const route = routeWith<SetupRouteDependencies>();

const setupBody = z.object({
  email: emailField,
  password: newPassword,
  displayName: nameField({ min: 2, max: 100 }),
  licenseKey: z.string().min(3).max(16_384),
  externalBaseUrl: baseUrlField,
});

/** For `foresee`: a password that is made of the name or the address beside it. */
function foreseeGuessable(body: unknown): readonly FieldError[] {
  const known = ['email', 'displayName'].flatMap((name) => textAt(body, name) ?? []);
  return refuseGuessable('password', textAt(body, 'password') ?? '', known)?.fields ?? [];
}

const refuseOnceSetUp = async ({ ports }: SetupRouteDependencies): Promise<void> => {
  if (await ports.claimHolder(INSTALLATION, SETUP_CLAIM)) throw new FailureError(forbidden('setup_complete'));
};

export const setupRoutes: RouteGroup<SetupRouteDependencies> = {
  area: 'setup',
  routes: [
    route({
      method: 'GET',
      path: '/api/v1/setup/status',
      access: openAccess('setup'),
      summary: 'Get whether the installation needs its first admin',
      refuses: ['setup_complete'],
      description: '403 once set-up is complete.',
      response: z.object({ needsSetup: z.boolean(), devMode: z.boolean() }),
      handle: async ({ services }) => {
        await refuseOnceSetUp(services);
        return { needsSetup: true, devMode: services.config.devMode };
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/setup/complete',
      access: openAccess('setup'),
      summary: 'Create the first tenant and its first admin',
      operation: 'completeSetup',
      refuses: ['setup_complete'],
      description: '403 once set-up is complete.',
      precondition: refuseOnceSetUp,
      body: setupBody,
      foresee: (given, services) => [...foreseeLicense(given, services), ...foreseeGuessable(given)],
      status: 201,
      response: z.object({
        tenantId: z.uuid(),
        clientName: z.string(),
        tier: z.enum(tiers),
        expiresAt: z.iso.datetime(),
        maxUsers: z.int(),
        accessToken: z.string(),
        refreshToken: z.string(),
        user: adminUserView,
      }),
      handle: async ({ body, run, created, services, request }) => {
        const tenantId = asTenantId(randomUUID());
        const adminId = randomUUID();
        const executed = await run(
          setUpTenant,
          { ...body, name: null, adminId, mustChangePassword: false, completesSetup: true },
          tenantId,
        );
        const { clientName, tier, expiresAt, maxUsers } = executed.result.license;
        const actor = actorOf(undefined, request);
        const tokens = await openSession(services, {
          tenantId,
          subjectId: adminId,
          subjectKind: 'admin',
          epoch: 0,
          role: 'super_admin',
          method: 'setup',
          actor,
        });
        const user = await created(
          executed,
          getAdminUser,
          { adminId },
          viewOfNewAdminUser(tenantId, adminId),
          tenantId,
        );
        return {
          tenantId,
          clientName,
          tier,
          expiresAt,
          maxUsers,
          accessToken: tokens.accessToken,
          refreshToken: tokens.refreshToken,
          user,
        };
      },
    }),
  ],
};
