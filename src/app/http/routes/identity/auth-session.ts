import { z } from 'zod';
import { endSession } from '../../../../../commands/identity/end-session.ts';
import { getAdminUser } from '../../../../../queries/admins/get-admin-user.ts';
import { getOrgAdmin } from '../../../../../queries/organizations/get-org-admin.ts';
import { tenantOfToken as tenantNamedBy, type RefreshTokens } from '../../../../contexts/identity/refresh-tokens.ts';
import { FailureError, unauthenticated } from '../../../../platform/kernel/failure.ts';
import { openAccess } from '../../access.ts';
import { giveBackIfRepeatable } from '../../plugins/given-back.ts';
import { routeWith, type AnyRoute } from '../../route.ts';
import { signedIn } from './sign-in-response.ts';
import type { FastifyRequest } from 'fastify';
import type { AccessTokens } from '../../../../contexts/identity/access-tokens.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';
import { refuseOtherTenant } from './other-tenant.ts';

export interface AuthSessionDependencies {
  readonly accessTokens: AccessTokens;
  readonly refreshTokens: RefreshTokens;
  readonly lookups: Lookups;
}

const route = routeWith<AuthSessionDependencies>();

async function sessionOf(request: FastifyRequest, services: AuthSessionDependencies) {
  const [scheme, token] = (request.headers.authorization ?? '').split(' ');
  const claims = scheme?.toLowerCase() === 'bearer' && token ? await services.accessTokens.verify(token) : undefined;
  if (!claims) throw new FailureError(unauthenticated());
  const { tenantId, sessionId, subjectId, kind } = claims;
  const find = kind === 'access' ? services.lookups.adminSession : services.lookups.orgSession;
  if (!(await find(tenantId, sessionId))) throw new FailureError(unauthenticated());
  refuseOtherTenant(request, tenantId);
  return { tenantId, sessionId, subjectId, kind };
}

/** Refreshes and ends sessions, of a tenant's admins and of an organization's. */
export const authSessionRoutes: readonly AnyRoute<AuthSessionDependencies>[] = [
  route({
    method: 'POST',
    path: '/api/v1/auth/refresh',
    access: openAccess('session'),
    summary: 'Exchange a refresh token for new tokens',
    operation: 'refreshTokens',
    takes: { 'X-Tenant-ID': 'optional' },
    refuses: ['authentication_required', 'invalid_refresh_token'],
    description:
      'Using a refresh token twice ends the session, except within 10 seconds, or after a 429 or 503 until the next token is used.',
    body: z.object({ refreshToken: z.string().min(1).max(256) }),
    response: signedIn.extend({
      user: signedIn.shape.user.omit({ roleType: true }).extend({ roleType: z.string() }),
    }),
    handle: async ({ body, services, request, run, ask }) => {
      // Check before the token is spent: after a wrong header, a retry must not look like token theft.
      const named = tenantNamedBy(body.refreshToken);
      if (named) refuseOtherTenant(request, named);
      const since = performance.now();
      giveBackIfRepeatable(request, () => services.refreshTokens.keepGrace(body.refreshToken, since));
      const redeemed = await services.refreshTokens.redeem(body.refreshToken);
      if (redeemed.kind === 'unknown') throw new FailureError(unauthenticated('invalid_refresh_token'));
      const { tenantId, sessionId, subjectId } = redeemed;
      if (redeemed.kind === 'reused') {
        await run(endSession, { sessionId, reason: 'refresh_reuse' }, tenantId);
        await services.refreshTokens.revokeSession(tenantId, sessionId);
        throw new FailureError(unauthenticated('invalid_refresh_token'));
      }
      const admin = await services.lookups.adminSession(tenantId, sessionId);
      const orgAdmin = admin ? undefined : await services.lookups.orgSession(tenantId, sessionId);
      const role = admin?.role ?? orgAdmin?.role;
      if (!role) throw new FailureError(unauthenticated('invalid_refresh_token'));
      const { token, expiresAt } = await services.accessTokens.issue(
        admin ? 'access' : 'org',
        tenantId,
        subjectId,
        sessionId,
        role,
        redeemed.endsAt,
      );
      const user = admin
        ? await ask(getAdminUser, { adminId: subjectId }, tenantId).then(({ id, email, displayName, roleType }) => ({
            id,
            email,
            displayName,
            roleType,
          }))
        : await ask(getOrgAdmin, { adminId: subjectId }, tenantId).then(
            ({ id, email, displayName, role: roleType }) => ({ id, email, displayName, roleType }),
          );
      return { accessToken: token, refreshToken: redeemed.next, expiresAt, user };
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/auth/logout',
    access: openAccess('session'),
    summary: 'End the current session',
    operation: 'signOut',
    takes: { 'X-Tenant-ID': 'optional' },
    refuses: ['authentication_required'],
    response: z.object({ success: z.literal(true) }),
    handle: async ({ services, request, run }) => {
      const { tenantId, sessionId, subjectId, kind } = await sessionOf(request, services);
      request.principal =
        kind === 'access'
          ? { kind: 'admin', tenantId, sessionId, adminId: subjectId, role: 'viewer', reauthenticated: false }
          : { kind: 'org_admin', tenantId, sessionId, adminId: subjectId, role: 'org_viewer' };
      await run(endSession, { sessionId, reason: 'logout' }, tenantId);
      await services.refreshTokens.revokeSession(tenantId, sessionId);
      return { success: true };
    },
  }),
];
