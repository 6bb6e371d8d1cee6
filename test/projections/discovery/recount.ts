import fc from 'fast-check';
import { credentialId } from '../../../src/contexts/credentials/domain/identity.ts';
import { siteOf } from '../../../src/platform/web-addresses/site.ts';
import type { Observation } from '../../../src/contexts/telemetry/domain/observation.ts';
import { NOW, TENANT } from '../../dsl/given.ts';
import { hashOf } from '../../dsl/observations.ts';

export const USERS = ['55555555-5555-4555-8555-555555555555', '66666666-6666-4666-8666-666666666666'] as const;
export const DEVICE_OF: Readonly<Record<string, string>> = {
  [USERS[0]]: '44444444-4444-4444-8444-444444444441',
  [USERS[1]]: '44444444-4444-4444-8444-444444444442',
};

/** An observation and its reporter. */
export interface Seen {
  readonly userId: string;
  readonly observation: Observation;
}

const common = fc.record({
  eventId: fc.uuid(),
  at: fc.integer({ min: 0, max: 8 }),
  domain: fc.constantFrom(null, 'shop.example', 'www.shop.example', 'login.microsoftonline.com'),
  path: fc.constantFrom(null, '/', '/a', '/b', '/long?q=1'),
});
const action = fc.constantFrom('allow' as const, 'warn' as const, 'block' as const);
const kinds = fc.oneof(
  fc.record({
    kind: fc.constant('navigation' as const),
    title: fc.constantFrom(null, 'One', 'Two'),
    referrerDomain: fc.constant(null),
    technologies: fc.array(
      fc.record({ name: fc.constantFrom('nginx', 'React', '__proto__'), version: fc.constantFrom(null, '1', '2') }),
      { maxLength: 3 },
    ),
    isNewSite: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('credential_attempt' as const),
    username: fc.constantFrom(null, 'kim', 'lee'),
    passwordHash: fc.constantFrom(hashOf('one'), hashOf('two')),
    isBreached: fc.boolean(),
    action,
    userDecision: fc.constant('none' as const),
    policyId: fc.constant(null),
  }),
  fc.record({
    kind: fc.constant('auth_flow' as const),
    provider: fc.constantFrom(null, 'Okta', 'Keycloak', 'Google Workspace'),
    method: fc.constantFrom('password' as const, 'oidc' as const, 'passkey' as const),
    relyingParty: fc.constantFrom(null, 'app.example', 'App.Example', 'wiki.example'),
    mfaObserved: fc.boolean(),
    outcome: fc.constant('success' as const),
  }),
  fc.record({
    kind: fc.constant('policy_decision' as const),
    signals: fc.subarray(['phishing_signal' as const, 'malicious_domain' as const]),
    action,
    userDecision: fc.constant('none' as const),
    policyId: fc.constant(null),
  }),
);

/** Seven minutes apart, or half a day: some lie in the same quarter of an hour, some on the same day. */
export const someSeen = fc
  .record({ userId: fc.constantFrom(...USERS), common, kind: kinds })
  .map(({ userId, common: { at, path, ...rest }, kind }): Seen => {
    const url = path === null || rest.domain === null ? null : `https://${rest.domain}${path}`;
    return {
      userId,
      observation: {
        ...rest,
        url,
        occurredAt: new Date(NOW + Math.floor(at / 2) * 43_200_000 + (at % 2) * 420_000).toISOString(),
        ...kind,
      } as Observation,
    };
  });

type Rows = Record<string, unknown>[];
const groups = <Key extends string>(all: readonly Seen[], keyOf: (seen: Seen) => Key | undefined): [Key, Seen[]][] => {
  const found = new Map<Key, Seen[]>();
  for (const seen of all) {
    const key = keyOf(seen);
    if (key !== undefined) found.set(key, [...(found.get(key) ?? []), seen]);
  }
  return [...found];
};
const times = (all: readonly Seen[]) => all.map(({ observation }) => observation.occurredAt).sort();
const span = (all: readonly Seen[]) => ({ first_seen_at: times(all)[0], last_seen_at: times(all).at(-1) });
const signsIn = ({ observation: { kind } }: Seen) => kind === 'auth_flow' || kind === 'credential_attempt';
const count = (all: readonly Seen[], chosen: (observation: Observation) => boolean) =>
  all.filter(({ observation }) => chosen(observation)).length;
const acts = (name: string) => (one: Observation) => 'action' in one && one.action === name;
const quarter = ({ occurredAt }: Observation) => {
  const moment = new Date(occurredAt);
  moment.setUTCMinutes(Math.floor(moment.getUTCMinutes() / 15) * 15, 0, 0);
  return moment.toISOString();
};
const isNew = (one: Observation) => one.kind === 'navigation' && one.isNewSite;

/** The expected content of the tables, computed directly over everything at once. */
export const recount: Readonly<Record<string, (all: readonly Seen[]) => Rows>> = {
  endpoints: (all) =>
    groups(all, ({ observation }) => observation.domain ?? undefined).map(([domain, here]) => ({
      domain,
      observations: here.length,
      fingerprinted_visits: count(here, (one) => one.kind === 'navigation' && one.technologies.length > 0),
      reported_malicious:
        count(here, (one) => one.kind === 'policy_decision' && one.signals.includes('malicious_domain')) > 0,
      names: [
        ...new Set(
          here.flatMap(({ observation: one }) =>
            one.kind === 'navigation' ? one.technologies.map(({ name }) => name) : [],
          ),
        ),
      ].sort(),
      ...span(here),
    })),
  endpoint_users: (all) =>
    groups(all, ({ userId, observation }) =>
      observation.domain === null ? undefined : `${observation.domain} ${userId}`,
    ).map(([key, here]) => {
      const [domain, user_id] = key.split(' ') as [string, string];
      const logins = here.flatMap(({ observation }) =>
        observation.kind === 'credential_attempt' ? [observation.username ?? ''] : [],
      );
      return {
        domain,
        user_id,
        site: siteOf(domain),
        event_count: here.length,
        credential_ids: [...new Set(logins.map((username) => credentialId(TENANT, user_id, domain, username)))].sort(),
        sign_ins: here.filter(signsIn).length,
        last_sign_in_at: times(here.filter(signsIn)).at(-1) ?? null,
        ...span(here),
      };
    }),
  auth_endpoints: (all) =>
    groups(all.filter(signsIn), ({ observation }) => observation.domain ?? undefined).map(([domain, here]) => ({
      domain,
      sign_ins: here.length,
      mfa_detected: count(here, (one) => one.kind === 'auth_flow' && one.mfaObserved) > 0,
      ...span(here),
    })),
  relying_parties: (all) =>
    groups(all, ({ userId, observation: one }) =>
      one.kind === 'auth_flow' && one.domain && one.relyingParty
        ? `${one.domain} ${one.relyingParty.toLowerCase()} ${userId}`
        : undefined,
    ).map(([key, here]) => ({
      ...Object.fromEntries(key.split(' ').map((value, n) => [['domain', 'relying_party', 'user_id'][n]!, value])),
      sign_ins: here.length,
      ...span(here),
    })),
  sites: (all) =>
    groups(all, ({ observation }) => (observation.domain === null ? undefined : siteOf(observation.domain))).map(
      ([site, here]) => ({
        site,
        credential_attempts: count(here, ({ kind }) => kind === 'credential_attempt'),
        breached_attempts: count(here, (one) => one.kind === 'credential_attempt' && one.isBreached),
        mfa_sign_ins: count(here, (one) => one.kind === 'auth_flow' && one.mfaObserved),
        dangers: count(here, (one) => one.kind === 'policy_decision' && one.signals.length > 0),
        warnings: count(here, acts('warn')),
        blocks: count(here, acts('block')),
        ...span(here),
      }),
    ),
  user_quarters: (all) =>
    groups(all, ({ userId, observation }) => `${quarter(observation)} ${userId}`).map(([key, here]) => ({
      quarter: key.split(' ')[0],
      user_id: key.split(' ')[1],
      observations: here.length,
      new_sites: count(here, isNew),
      warnings: count(here, acts('warn')),
      blocks: count(here, acts('block')),
    })),
  new_site_visitors: (all) =>
    groups(all, ({ userId, observation: one }) =>
      isNew(one) && one.domain ? `${quarter(one)} ${one.domain} ${userId}` : undefined,
    ).map(([key]) =>
      Object.fromEntries(key.split(' ').map((value, n) => [['quarter', 'domain', 'user_id'][n]!, value])),
    ),
  reporters: (all) =>
    groups(all, ({ userId }) => userId).map(([user_id, here]) => ({
      user_id,
      device_id: DEVICE_OF[user_id],
      observations: here.length,
      last_observed_at: times(here).at(-1),
    })),
};
