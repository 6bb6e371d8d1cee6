import type { FastifyRequest } from 'fastify';
import { FailureError, unauthenticated } from '../../../../platform/kernel/failure.ts';
import { refuseOtherTenant } from '../identity/other-tenant.ts';
import type { AdminPrincipal } from '../../principal.ts';
import type { AccessTokens } from '../../../../contexts/identity/access-tokens.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';

export interface LiveAdminSessionDependencies {
  readonly accessTokens: AccessTokens;
  readonly lookups: Lookups;
}

/**
 * The calling admin with a live session, regardless of role and license; for routes that end a session. Throws 401, also if
 * `X-Tenant-ID` contradicts the token (choice OP-029).
 */
export async function liveAdminSession(
  request: FastifyRequest,
  { accessTokens, lookups }: LiveAdminSessionDependencies,
): Promise<AdminPrincipal> {
  const [scheme, token] = (request.headers.authorization ?? '').split(' ');
  const claims = scheme?.toLowerCase() === 'bearer' && token ? await accessTokens.verify(token) : undefined;
  if (claims?.kind !== 'access') throw new FailureError(unauthenticated());
  refuseOtherTenant(request, claims.tenantId);
  const live = await lookups.adminSession(claims.tenantId, claims.sessionId);
  if (!live) throw new FailureError(unauthenticated());
  return {
    kind: 'admin',
    tenantId: claims.tenantId,
    sessionId: claims.sessionId,
    adminId: live.adminId,
    role: live.role,
    reauthenticated: false,
  };
}
