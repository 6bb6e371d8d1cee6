import { z } from 'zod';
import type { AuthEndpointRow } from '../../projections/discovery/auth-endpoints.ts';
import {
  methodsOf,
  mfaOverrideValues,
  identityProviders,
  type MfaOverride,
} from '../../src/contexts/discovery/domain/vocabulary.ts';
import { authMethods } from '../../src/contexts/telemetry/domain/vocabulary.ts';

/** A sign-in host (choice OP-092). `domain` is the host itself. */
export const authEndpointView = z
  .object({
    id: z.uuid(),
    domain: z.string(),
    url: z.string(),
    provider: z.enum(identityProviders),
    methods: z.array(z.enum(authMethods)),
    mfaDetected: z.boolean(),
    mfaOverride: z.enum(mfaOverrideValues).nullable(),
    mfaEffective: z.boolean(),
    userCount: z.int(),
    relyingPartyCount: z.int(),
    firstSeenAt: z.iso.datetime(),
    lastSeenAt: z.iso.datetime(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ title: 'AuthEndpoint' });
export type AuthEndpointView = z.output<typeof authEndpointView>;

export interface AuthEndpointWithDetails extends AuthEndpointRow {
  readonly url: string | null;
  readonly mfa_override: MfaOverride | null;
  readonly user_count: number;
  readonly relying_party_count: number;
}

/** `from` yields rows of `auth_endpoints`; their alias is `a`. */
export const selectAuthEndpoints = (from: string): string => `
  select a.*, p.url, o.mfa_override,
         (select count(*)::int from endpoint_users u where u.tenant_id = $1 and u.domain = a.domain and u.signs_in) as user_count,
         (select count(distinct r.relying_party)::int from relying_parties r where r.tenant_id = $1 and r.domain = a.domain) as relying_party_count
    from ${from} a
    left join endpoint_pages p on p.tenant_id = $1 and p.domain = a.domain
    left join mfa_overrides o on o.tenant_id = $1 and o.auth_endpoint_id = a.auth_endpoint_id`;

export const toAuthEndpointView = (row: AuthEndpointWithDetails): AuthEndpointView => ({
  id: row.auth_endpoint_id,
  domain: row.domain,
  url: row.url ?? `https://${row.domain}/`,
  provider: row.provider,
  methods: methodsOf(row.methods),
  mfaDetected: row.mfa_detected,
  mfaOverride: row.mfa_override,
  mfaEffective: row.mfa_override === null ? row.mfa_detected : row.mfa_override === 'enabled',
  userCount: row.user_count,
  relyingPartyCount: row.relying_party_count,
  firstSeenAt: row.first_seen_at,
  lastSeenAt: row.last_seen_at,
  createdAt: row.first_seen_at,
  updatedAt: row.last_seen_at,
});
