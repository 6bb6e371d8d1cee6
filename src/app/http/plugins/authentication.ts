import type { FastifyRequest } from 'fastify';
import { organization, organizationStream } from '../../../contexts/organizations/domain/organization.ts';
import {
  FailureError,
  forbidden,
  isFailure,
  notFound,
  reauthenticationRequired,
  reauthenticationSpent,
  unauthenticated,
} from '../../../platform/kernel/failure.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { Access, OfferingSettings } from '../access.ts';
import { bearerToken } from '../bearer-token.ts';
import { permits } from '../../../contexts/identity/domain/permissions.ts';
import type { AdminPrincipal, DevicePrincipal, OrgPrincipal, Principal, ScimPrincipal } from '../principal.ts';
import { giveBackIfRepeatable } from './given-back.ts';
import { identifyAgent, type AgentKeyDependencies } from './agent-key.ts';
import { presentedScimToken } from './scim-token.ts';
import { deviceOrRefusal, type DeviceIdentityDependencies } from './device-identity.ts';
import type { AggregateLoader } from '../../../platform/execution/aggregate-loader.ts';
import type { AccessTokens } from '../../../contexts/identity/access-tokens.ts';
import type { OneTimeTokens } from '../../../contexts/identity/one-time-tokens.ts';
import type { ScimTokens } from '../../../contexts/scim/access-tokens.ts';
import type { Lookups } from '../../../contexts/identity/lookups.ts';

export interface AuthenticationDependencies extends AgentKeyDependencies, DeviceIdentityDependencies {
  readonly config: OfferingSettings & DeviceIdentityDependencies['config'];
  readonly loader: AggregateLoader;
  readonly accessTokens: AccessTokens;
  readonly oneTimeTokens: OneTimeTokens;
  readonly lookups: Lookups;
  readonly scimTokens: ScimTokens;
}

/** Authenticates the caller by the route's access profile. Throws 401, 403 or 404. Undefined for open routes. */
export async function authenticate(
  request: FastifyRequest,
  access: Access,
  services: AuthenticationDependencies,
): Promise<Principal | undefined> {
  switch (access.kind) {
    case 'open':
      if (access.offered && !access.offered(services.config)) throw new FailureError(notFound());
      return undefined;
    case 'admin':
      return authenticateAdmin(request, access, services);
    case 'org':
      return authenticateOrgAdmin(request, access, services);
    case 'device':
      return authenticateDevice(request, access, services);
    case 'scim':
      return authenticateScimClient(request, access, services);
  }
}

function bearerOf(request: FastifyRequest): string {
  const token = bearerToken(request.headers.authorization);
  if (token === undefined) throw new FailureError(unauthenticated());
  return token;
}

async function authenticateAdmin(
  request: FastifyRequest,
  access: Extract<Access, { kind: 'admin' }>,
  services: AuthenticationDependencies,
): Promise<AdminPrincipal> {
  const claims = await services.accessTokens.verify(bearerOf(request));
  if (claims?.kind !== 'access') throw new FailureError(unauthenticated());
  const { tenantId, sessionId } = claims;
  const live = await services.lookups.adminSession(tenantId, sessionId);
  if (!live) throw new FailureError(unauthenticated());
  if (!permits(live.role, access.permission)) throw new FailureError(forbidden());
  if (!access.unlicensed) {
    const tenant = await services.lookups.tenant(tenantId, tenantId);
    const expiresAt = tenant?.license?.expiresAt;
    if (!expiresAt || Date.parse(expiresAt) <= Date.now()) throw new FailureError(forbidden('license_expired'));
  }
  const reauthenticated =
    (access.reauth ?? access.reauthWhere) !== undefined &&
    (await hasReauthenticated(request, tenantId, sessionId, services));
  if (access.reauth && !reauthenticated) throw new FailureError(reauthenticationRequired());
  return { kind: 'admin', tenantId, adminId: live.adminId, sessionId, role: live.role, reauthenticated };
}

/** A token is valid for its lifetime, in the session that requested it (choice OP-025). */
async function hasReauthenticated(
  request: FastifyRequest,
  tenantId: TenantId,
  sessionId: string,
  { oneTimeTokens }: AuthenticationDependencies,
): Promise<boolean> {
  const token = request.headers['x-reauth-token'];
  const known = typeof token === 'string' ? await oneTimeTokens.peek('reauth', token) : undefined;
  return known?.tenantId === tenantId && known.payload['sessionId'] === sessionId;
}

/** Checks in this order (choice OP-146): session 401, role 403, re-authentication 403, then the resource. */
async function authenticateOrgAdmin(
  request: FastifyRequest,
  access: Extract<Access, { kind: 'org' }>,
  services: AuthenticationDependencies,
): Promise<OrgPrincipal> {
  const claims = await services.accessTokens.verify(bearerOf(request));
  if (claims?.kind !== 'org') throw new FailureError(unauthenticated());
  const { tenantId, sessionId } = claims;
  const live = await services.lookups.orgSession(tenantId, sessionId);
  if (!live) throw new FailureError(unauthenticated());
  if (access.roles !== 'any' && !access.roles.includes(live.role)) throw new FailureError(forbidden());
  if (access.reauth) await spendReauthentication(request, sessionId, services);
  if (access.itsTenant) await refuseForeignTenant(request, tenantId, services);
  return { kind: 'org_admin', tenantId, adminId: live.adminId, sessionId, role: live.role };
}

/** The token is spent here, even if the request fails later (choice OP-147); 503 gives it back. */
async function spendReauthentication(
  request: FastifyRequest,
  sessionId: string,
  services: AuthenticationDependencies,
): Promise<void> {
  const token = request.headers['x-reauth-token'];
  if (typeof token !== 'string') throw new FailureError(reauthenticationRequired());
  const { oneTimeTokens } = services;
  const known = await oneTimeTokens.spend('org-reauth', token);
  if (known) giveBackIfRepeatable(request, () => oneTimeTokens.giveBack('org-reauth', token, known));
  if (known?.payload['sessionId'] === sessionId) return;
  const spent = known ? undefined : await oneTimeTokens.spent('org-reauth', token);
  const wasOwn = spent?.payload['sessionId'] === sessionId;
  throw new FailureError(wasOwn ? reauthenticationSpent() : reauthenticationRequired());
}

/** Throws 404 for a tenant of another organization, before the body is validated. */
async function refuseForeignTenant(
  { params }: FastifyRequest,
  organizationId: TenantId,
  { loader }: AuthenticationDependencies,
): Promise<void> {
  const named = (params as { tenantId?: string }).tenantId?.toLowerCase() ?? '';
  const { tenants } = await loader.load(organization, organizationStream(organizationId));
  if (!tenants.has(named)) throw new FailureError(notFound());
}

async function authenticateDevice(
  request: FastifyRequest,
  access: Extract<Access, { kind: 'device' }>,
  services: AuthenticationDependencies,
): Promise<DevicePrincipal> {
  const { orAgentKey, evenToBeWiped } = access;
  const byCertificate = await deviceOrRefusal(request, services, access);
  if (byCertificate && !isFailure(byCertificate)) return byCertificate;
  const agent = orAgentKey ? await identifyAgent(request, services, evenToBeWiped) : undefined;
  if (!agent) throw new FailureError(byCertificate ?? unauthenticated());
  return agent;
}

async function authenticateScimClient(
  request: FastifyRequest,
  { scope }: Extract<Access, { kind: 'scim' }>,
  services: AuthenticationDependencies,
): Promise<ScimPrincipal> {
  const live = await presentedScimToken(request, services);
  if (!live) throw new FailureError(unauthenticated());
  const { token, client } = live;
  if (!token.scopes.includes(scope)) throw new FailureError(forbidden('insufficient_scope'));
  return { kind: 'scim', tenantId: token.tenantId, clientId: client.clientId, profile: client.profile };
}
