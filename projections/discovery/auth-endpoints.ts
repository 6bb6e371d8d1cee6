import { authEndpointId } from '../../src/contexts/discovery/domain/identity.ts';
import {
  identityProviderNamed,
  identityProviderOfHost,
} from '../../src/contexts/discovery/domain/identity-provider.ts';
import { byHost, earlier, later, span } from '../../src/contexts/discovery/domain/sightings.ts';
import { methodBit, type IdentityProvider } from '../../src/contexts/discovery/domain/vocabulary.ts';
import { anonymousTelemetryEvents } from '../../src/contexts/telemetry/domain/anonymous-events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import type { Observation } from '../../src/contexts/telemetry/domain/observation.ts';
import {
  bigint,
  defineReadModel,
  flag,
  id,
  integer,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';
import { isSignIn } from './endpoint-users.ts';

const columns = {
  domain: text,
  auth_endpoint_id: id,
  site: text,
  provider: text as Column<IdentityProvider>,
  /** When a browser last named a provider; null if the host itself determines it, or if none was named. */
  provider_named_at: nullable(timestamp),
  /** See `methodsOf`. */
  methods: integer,
  /** A second factor was seen at least once. */
  mfa_detected: flag,
  sign_ins: bigint,
  first_seen_at: timestamp,
  last_seen_at: timestamp,
};
export type AuthEndpointRow = Row<{ columns: typeof columns }>;

/** Sign-in hosts: a password was entered there, or a sign-in was seen. */
export const authEndpoints = defineReadModel({
  name: 'auth_endpoints',
  version: 2,
  lane: 'telemetry',
  columns,
  key: ['domain'],
  indexes: [
    ['first_seen_at desc', 'domain'],
    ['auth_endpoint_id'],
    ['site', 'domain'],
    ['provider', 'mfa_detected', 'methods'],
  ],
  families: [telemetryEvents, anonymousTelemetryEvents],
  on: {
    TelemetryRecorded: ({ tenantId, data: { observations } }) => signInsIn(tenantId, observations),
    AnonymousTelemetryRecorded: ({ tenantId, data: { observations } }) => signInsIn(tenantId, observations),
  },
});

const signInsIn = (tenantId: string, observations: readonly Observation[]) =>
  byHost(observations).flatMap(({ domain, site, observations: there }) => {
    const signIns = there.filter(isSignIn);
    if (signIns.length === 0) return [];
    return [
      {
        key: { domain },
        fold: (row: AuthEndpointRow | undefined) =>
          signedIn(row ?? firstSeen(tenantId, domain, site, signIns), signIns),
      },
    ];
  });

function firstSeen(tenantId: string, domain: string, site: string, signIns: readonly Observation[]): AuthEndpointRow {
  const { firstSeenAt, lastSeenAt } = span(signIns);
  return {
    domain,
    auth_endpoint_id: authEndpointId(tenantId, domain),
    site,
    provider: identityProviderOfHost(domain) ?? 'none',
    provider_named_at: null,
    methods: 0,
    mfa_detected: false,
    sign_ins: 0,
    first_seen_at: firstSeenAt,
    last_seen_at: lastSeenAt,
  };
}

function signedIn(row: AuthEndpointRow, signIns: readonly Observation[]): AuthEndpointRow {
  const { firstSeenAt, lastSeenAt } = span(signIns);
  const next = {
    ...row,
    sign_ins: row.sign_ins + signIns.length,
    first_seen_at: earlier(row.first_seen_at, firstSeenAt),
    last_seen_at: later(row.last_seen_at, lastSeenAt),
  };
  const isKnown = identityProviderOfHost(row.domain) !== undefined;
  for (const one of signIns) {
    if (one.kind === 'credential_attempt') next.methods |= methodBit('password');
    if (one.kind !== 'auth_flow') continue;
    next.methods |= methodBit(one.method);
    next.mfa_detected ||= one.mfaObserved;
    const named = identityProviderNamed(one.provider);
    if (!isKnown && named !== 'none' && isNewer(one.occurredAt, named, next))
      Object.assign(next, { provider: named, provider_named_at: one.occurredAt });
  }
  return next;
}

/** The last named provider wins; ties are broken deterministically. */
const isNewer = (
  at: string,
  named: IdentityProvider,
  { provider, provider_named_at: knownAt }: AuthEndpointRow,
): boolean => knownAt === null || at > knownAt || (at === knownAt && named > provider);
