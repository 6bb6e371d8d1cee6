import { z } from 'zod';
import { changeAdminPassword } from '../../../../../commands/identity/change-admin-password.ts';
import { getAdminUser } from '../../../../../queries/admins/get-admin-user.ts';
import { listTenants } from '../../../../../queries/tenants/list-tenants.ts';
import { emailField, presentedPassword } from '../../../../contexts/identity/domain/password-rule.ts';
import { tenantAdminAccounts } from '../../../../contexts/identity/account-kinds.ts';
import { signInWithPassword, type AdminSignInDependencies } from '../../../../contexts/identity/admin-sign-in.ts';
import { verifySecondFactor, type SecondFactorDependencies } from '../../../../contexts/identity/second-factor.ts';
import { FailureError, notFound } from '../../../../platform/kernel/failure.ts';
import { INSTALLATION, uuid, type TenantId } from '../../../../platform/kernel/ids.ts';
import { actorOf } from '../../principal.ts';
import { openAccess } from '../../access.ts';
import {
  changeForcedPassword,
  forcedChangeBody,
  passwordChanged,
  type ForcedPasswordChangeDependencies,
} from '../../../../contexts/identity/forced-password-change.ts';
import { presentedCodeBody, presentedIn } from './presented-code.ts';
import { routeWith, type HandlerContext, type RouteGroup } from '../../route.ts';
import { mfaRequired, passwordChangeRequired, signedIn, signInResponse } from './sign-in-response.ts';
import { issueBrowserCookie, signInOriginOf, type VisitorDependencies } from '../../sign-in-origin.ts';
import type { FastifyRequest } from 'fastify';
import type { AdminState } from '../../../../contexts/tenants/domain/admin.ts';
import type { Freshness } from '../../../../platform/projector/freshness.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';
import type { Position } from '../../../../platform/kernel/event.ts';
import { refuseOtherTenant } from './other-tenant.ts';
import { requiredTenant } from '../../tenant-header.ts';
import { authSessionRoutes, type AuthSessionDependencies } from './auth-session.ts';
import type { ResponseHead } from '../../response-head.ts';

export interface AuthRouteDependencies
  extends
    AdminSignInDependencies,
    ForcedPasswordChangeDependencies,
    SecondFactorDependencies,
    AuthSessionDependencies,
    VisitorDependencies {
  readonly freshness: Freshness;
  readonly lookups: Lookups;
  head(): Promise<Position>;
}

const route = routeWith<AuthRouteDependencies>();

/** Names of an admin that a password must not contain. Empty for an admin who was deleted meanwhile. */
async function namesOf(
  { freshness, head }: AuthRouteDependencies,
  adminId: string,
  tenantId: TenantId,
  ask: HandlerContext<never, never, never>['ask'],
): Promise<string[]> {
  // Wait, so that a new admin's names are found.
  await freshness.waitFor(['admin_users'], await head());
  try {
    const { email, displayName } = await ask(getAdminUser, { adminId }, tenantId);
    return [email, displayName];
  } catch (error) {
    if (error instanceof FailureError && error.failure.kind === 'notFound') return [];
    throw error;
  }
}

async function rememberAdminBrowser(
  request: FastifyRequest,
  reply: ResponseHead,
  services: AuthRouteDependencies,
  tenantId: TenantId,
  { accountDigest }: AdminState,
): Promise<void> {
  const tenant = await services.lookups.tenant(tenantId, tenantId);
  issueBrowserCookie(request, reply, services, { scope: tenantId, accountDigest }, tenant?.externalBaseUrl ?? '');
}

export const authRoutes: RouteGroup<AuthRouteDependencies> = {
  area: 'auth',
  routes: [
    route({
      method: 'GET',
      path: '/api/v1/auth/tenant',
      access: openAccess('session'),
      summary: 'Get the tenant of a single-tenant installation',
      description: '404 if there are several tenants, and `not_set_up` if there is none.',
      refuses: ['not_found', 'not_set_up'],
      response: z.object({ tenantId: z.uuid(), name: z.string(), slug: z.string() }),
      handle: async ({ ask }) => {
        const [only, ...others] = await ask(listTenants, { most: 2 }, INSTALLATION);
        if (!only) throw new FailureError(notFound('not_set_up'));
        if (others.length > 0) throw new FailureError(notFound());
        return { tenantId: only.id, name: only.name, slug: only.slug };
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/auth/login',
      access: openAccess('login'),
      summary: 'Sign in with e-mail and password',
      operation: 'signIn',
      sends: ['Set-Cookie'],
      takes: { 'X-Tenant-ID': 'or-in-body' },
      refuses: [
        'account_locked',
        'account_suspended',
        'invalid_credentials',
        'temporary_password_expired',
        'read_side_behind',
      ],
      description: 'Returns tokens, or a token for the next step: second factor or forced password change.',
      body: z.object({ email: emailField, password: presentedPassword, tenantId: uuid().optional() }),
      response: z.union([signedIn, mfaRequired, passwordChangeRequired]),
      handle: async ({ body, services, request, reply, ask }) => {
        const tenantId = requiredTenant(request, body.tenantId);
        const { admin, next } = await signInWithPassword(
          services,
          tenantId,
          body.email,
          body.password,
          signInOriginOf(request, services),
        );
        if (next.step === 'done') await rememberAdminBrowser(request, reply, services, tenantId, admin);
        return signInResponse(next, tenantId, admin.adminId, ask);
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/auth/mfa/verify',
      access: openAccess('login'),
      summary: 'Verify the second factor of a sign-in',
      operation: 'verifySignInCode',
      sends: ['Set-Cookie'],
      takes: { 'X-Tenant-ID': 'optional' },
      refuses: ['account_locked', 'authentication_required', 'invalid_code', 'invalid_token', 'read_side_behind'],
      description: 'Takes a code of the authenticator app or a backup code.',
      body: presentedCodeBody,
      response: z.union([signedIn, passwordChangeRequired]),
      handle: async ({ body, services, request, reply, ask }) => {
        const sameTenant = (tenantId: TenantId) => refuseOtherTenant(request, tenantId);
        const { tenantId, admin, next } = await verifySecondFactor(
          services,
          tenantAdminAccounts,
          body.mfaToken,
          presentedIn(body),
          sameTenant,
          signInOriginOf(request, services),
        );
        if (next.step === 'done') await rememberAdminBrowser(request, reply, services, tenantId, admin);
        return signInResponse(next, tenantId, admin.adminId, ask);
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/auth/change-password',
      access: openAccess('login'),
      summary: 'Change a password that must be changed',
      operation: 'replaceTemporaryPassword',
      takes: { 'X-Tenant-ID': 'optional' },
      refuses: ['invalid_token', 'password_changed_meanwhile'],
      description: 'Sign in again afterwards.',
      body: forcedChangeBody,
      response: passwordChanged,
      handle: ({ body, services, request, run, ask }) =>
        changeForcedPassword(services, {
          purpose: tenantAdminAccounts.purposes.temp,
          tempToken: body.tempToken,
          prepare: ({ tenantId, subjectId }) => {
            refuseOtherTenant(request, tenantId);
            return namesOf(services, subjectId, tenantId, ask);
          },
          change: async ({ tenantId, subjectId: adminId, payload }, known) => {
            const actor = {
              ...actorOf(undefined, request),
              kind: 'admin' as const,
              id: adminId,
            };
            const input = { adminId, newPassword: body.newPassword, epoch: Number(payload['epoch']), known };
            await run(changeAdminPassword, input, { tenantId, actor });
          },
        }),
    }),
    ...authSessionRoutes,
  ],
};
