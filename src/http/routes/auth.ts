import { z } from 'zod';
import { changeAdminPassword } from '../../../commands/auth/change-admin-password.ts';
import { endSession } from '../../../commands/auth/end-session.ts';
import { getAdminUser } from '../../../queries/admins/get-admin-user.ts';
import { getOrgAdmin } from '../../../queries/organizations/get-org-admin.ts';
import { listTenants } from '../../../queries/tenants/list-tenants.ts';
import { emailField, newPassword, presentedPassword } from '../../domain/identity/password-rule.ts';
import { roleSchema } from '../../domain/identity/roles.ts';
import { tenant, tenantStream } from '../../domain/tenants/tenant.ts';
import { checkAdminPassword, openSession } from '../../identity/sign-in.ts';
import { FailureError, invalid, notFound, unauthenticated } from '../../kernel/failure.ts';
import { asTenantId, INSTALLATION, isUuid, uuid, type TenantId } from '../../kernel/ids.ts';
import { open } from '../access.ts';
import { actorOf } from '../principal.ts';
import { route, type RouteGroup } from '../route.ts';
import type { FastifyRequest } from 'fastify';
import type { Services } from '../../services.ts';

const signedIn = z.object({
  accessToken: z.string(),
  refreshToken: z.string(),
  expiresAt: z.iso.datetime(),
  user: z.object({ id: z.uuid(), email: z.string(), displayName: z.string(), roleType: roleSchema }),
});
const passwordChangeAsked = z.object({ mustChangePassword: z.literal(true), tempToken: z.string(), userId: z.uuid(), message: z.string() });

const TEMP_TOKEN_SECONDS = 15 * 60;

/** The tenant that a login is for (choice OP-028): header or body, not contradicting each other. */
function tenantNamed(request: FastifyRequest, inBody: string | undefined): TenantId {
  const header = request.headers['x-tenant-id'];
  if (header !== undefined && !isUuid(header)) throw new FailureError(invalid('X-Tenant-ID', 'must be a UUID'));
  const named = (header as string | undefined)?.toLowerCase() ?? inBody;
  if (!named) throw new FailureError(invalid('X-Tenant-ID', 'is required'));
  if (inBody && named !== inBody) throw new FailureError(invalid('tenantId', 'differs from X-Tenant-ID'));
  return asTenantId(named);
}

/** Optional on later calls, but never allowed to contradict the token (choice OP-029). */
function refuseOtherTenant(request: FastifyRequest, tenantId: TenantId): void {
  const header = request.headers['x-tenant-id'];
  if (header !== undefined && String(header).toLowerCase() !== tenantId) throw new FailureError(unauthenticated());
}

async function sessionOf(request: FastifyRequest, services: Services) {
  const [scheme, token] = (request.headers.authorization ?? '').split(' ');
  const claims = scheme?.toLowerCase() === 'bearer' && token ? await services.accessTokens.verify(token) : undefined;
  if (!claims) throw new FailureError(unauthenticated());
  const { tenantId, sessionId, subjectId, kind } = claims;
  const find = kind === 'access' ? services.lookups.adminSession : services.lookups.orgSession;
  if (!(await find(tenantId, sessionId))) throw new FailureError(unauthenticated());
  refuseOtherTenant(request, tenantId);
  return { tenantId, sessionId, subjectId, kind };
}

export const authRoutes: RouteGroup = {
  area: 'auth',
  routes: [
    route({
      method: 'GET',
      path: '/api/v1/auth/tenant',
      access: open('session'),
      summary: 'The tenant of a single-tenant installation',
      answer: z.object({ tenantId: z.uuid(), name: z.string(), slug: z.string() }),
      handle: async ({ ask }) => {
        const [only, ...others] = await ask(listTenants, { most: 2 }, INSTALLATION);
        if (!only || others.length > 0) throw new FailureError(notFound());
        return { tenantId: only.id, name: only.name, slug: only.slug };
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/auth/login',
      access: open('login'),
      summary: 'Sign in with e-mail and password',
      body: z.object({ email: emailField, password: presentedPassword, tenantId: uuid().optional() }),
      answer: z.union([signedIn, passwordChangeAsked]),
      handle: async ({ body, services, request, ask }) => {
        const tenantId = tenantNamed(request, body.tenantId);
        const actor = actorOf(undefined, request.ip, request.headers['user-agent']);
        const admin = await checkAdminPassword(services, tenantId, body.email, body.password, actor);
        const { adminId, sessionEpoch, role, mustChangePassword } = admin;
        if (mustChangePassword) {
          const token = { tenantId, subjectId: adminId, payload: { epoch: sessionEpoch } };
          const tempToken = await services.oneTimeTokens.issue('temp', token, TEMP_TOKEN_SECONDS);
          return { mustChangePassword: true, tempToken, userId: adminId, message: 'the password must be changed before the first sign-in' };
        }
        const tokens = await openSession(services, { tenantId, subjectId: adminId, subjectKind: 'admin', epoch: sessionEpoch, role, method: 'password', actor });
        const { id, email, displayName, roleType } = await ask(getAdminUser, { adminId }, tenantId);
        return { ...tokens, user: { id, email, displayName, roleType } };
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/auth/change-password',
      access: open('login'),
      summary: 'Choose a new password where one must be changed; sign in again afterwards',
      body: z
        .object({ tempToken: z.string().min(1).max(256), newPassword, confirmPassword: z.string().max(256) })
        .refine(({ newPassword: chosen, confirmPassword }) => chosen === confirmPassword, { path: ['confirmPassword'], message: 'must equal newPassword' }),
      answer: z.object({ success: z.literal(true), message: z.string() }),
      handle: async ({ body, services, request, run }) => {
        const token = await services.oneTimeTokens.peek('temp', body.tempToken);
        if (!token) throw new FailureError(unauthenticated('invalid or expired token'));
        const { tenantId, subjectId: adminId } = token;
        refuseOtherTenant(request, tenantId);
        const { sessionEpoch } = (await services.loader.load(tenant, tenantStream(tenantId))).admins.get(adminId) ?? {};
        // A reset or recovery since then has made the token worthless; spending it decides between two who hold it.
        if (sessionEpoch !== token.payload['epoch'] || !(await services.oneTimeTokens.spend('temp', body.tempToken))) {
          throw new FailureError(unauthenticated('invalid or expired token'));
        }
        await run(changeAdminPassword, { adminId, newPassword: body.newPassword }, tenantId);
        return { success: true, message: 'the password was changed; sign in with it' };
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/auth/refresh',
      access: open('session'),
      summary: 'Exchange a refresh token for new tokens; using one twice ends the session',
      body: z.object({ refreshToken: z.string().min(1).max(256) }),
      answer: signedIn.extend({ user: signedIn.shape.user.omit({ roleType: true }).extend({ roleType: z.string() }) }),
      handle: async ({ body, services, request, run, ask }) => {
        const redeemed = await services.refreshTokens.redeem(body.refreshToken);
        if (redeemed.kind === 'unknown') throw new FailureError(unauthenticated('invalid or expired refresh token'));
        const { tenantId, sessionId, subjectId } = redeemed;
        refuseOtherTenant(request, tenantId);
        if (redeemed.kind === 'reused') {
          await run(endSession, { sessionId, reason: 'refresh_reuse' }, tenantId);
          await services.refreshTokens.revokeSession(tenantId, sessionId);
          throw new FailureError(unauthenticated('invalid or expired refresh token'));
        }
        const admin = await services.lookups.adminSession(tenantId, sessionId);
        const orgAdmin = admin ? undefined : await services.lookups.orgSession(tenantId, sessionId);
        const role = admin?.role ?? orgAdmin?.role;
        if (!role) throw new FailureError(unauthenticated('invalid or expired refresh token'));
        const { token, expiresAt } = await services.accessTokens.issue(admin ? 'access' : 'org', tenantId, subjectId, sessionId, role);
        const user = admin
          ? await ask(getAdminUser, { adminId: subjectId }, tenantId).then(({ id, email, displayName, roleType }) => ({ id, email, displayName, roleType }))
          : await ask(getOrgAdmin, { adminId: subjectId }, tenantId).then(({ id, email, displayName, role: roleType }) => ({ id, email, displayName, roleType }));
        return { accessToken: token, refreshToken: redeemed.next, expiresAt, user };
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/auth/logout',
      access: open('session'),
      summary: 'End the current session',
      answer: z.object({ success: z.literal(true) }),
      handle: async ({ services, request, run }) => {
        const { tenantId, sessionId, subjectId, kind } = await sessionOf(request, services);
        request.principal =
          kind === 'access'
            ? { kind: 'admin', tenantId, sessionId, adminId: subjectId, role: 'viewer' }
            : { kind: 'org_admin', tenantId, sessionId, adminId: subjectId, role: 'org_viewer' };
        await run(endSession, { sessionId, reason: 'logout' }, tenantId);
        await services.refreshTokens.revokeSession(tenantId, sessionId);
        return { success: true };
      },
    }),
  ],
};
