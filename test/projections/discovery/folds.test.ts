import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordTelemetry } from '../../../commands/telemetry/record-telemetry.ts';
import { newSiteVisitors } from '../../../projections/dashboard/new-site-visitors.ts';
import { userQuarters } from '../../../projections/dashboard/user-quarters.ts';
import { authEndpoints } from '../../../projections/discovery/auth-endpoints.ts';
import { endpointPages } from '../../../projections/discovery/endpoint-pages.ts';
import { endpointTechnologies } from '../../../projections/discovery/endpoint-technologies.ts';
import { endpointUsers } from '../../../projections/discovery/endpoint-users.ts';
import { endpoints, MAX_TECHNOLOGIES_PER_ENDPOINT } from '../../../projections/discovery/endpoints.ts';
import { relyingParties } from '../../../projections/discovery/relying-parties.ts';
import { sites } from '../../../projections/discovery/sites.ts';
import { reporters } from '../../../projections/telemetry/reporters.ts';
import { deviceDay } from '../../../src/contexts/telemetry/domain/device-day.ts';
import type { TelemetryEvent } from '../../../src/contexts/telemetry/domain/events.ts';
import type { Observation, ObservationOf } from '../../../src/contexts/telemetry/domain/observation.ts';
import { ERASED } from '../../../src/platform/kernel/event.ts';
import { isFailure } from '../../../src/platform/kernel/failure.ts';
import type { AnyReadModel } from '../../../src/platform/kernel/read-model.ts';
import { context, NOW, recorded, rowsAfter } from '../../dsl/given.ts';
import { login, telemetry } from '../../dsl/observations.ts';
import { DEVICE_OF, recount, someSeen, USERS, type Seen } from './recount.ts';

const MODELS: readonly AnyReadModel[] = [
  endpoints,
  endpointUsers,
  endpointPages,
  endpointTechnologies,
  authEndpoints,
  relyingParties,
  sites,
  userQuarters,
  newSiteVisitors,
  reporters,
];

/** The log after these observations were sent, in this order and in batches of this size, as the command decides. */
function logAfter(sent: readonly Seen[], size: number): TelemetryEvent[] {
  const log: TelemetryEvent[] = [];
  const states = new Map<string, typeof deviceDay.initial>();
  for (let from = 0; from < sent.length; from += size) {
    const portions = new Map<string, Map<string, Observation>>();
    for (const { userId, observation } of sent.slice(from, from + size)) {
      const name = `${userId} ${observation.occurredAt.slice(0, 10)}`;
      portions.set(name, (portions.get(name) ?? new Map()).set(observation.eventId, observation));
    }
    for (const [name, observations] of portions) {
      const [userId, day] = name.split(' ') as [string, string];
      const input = {
        deviceId: DEVICE_OF[userId]!,
        userId,
        day,
        deviceSequence: null,
        extensionMode: null,
        policyVersion: null,
        observations: [...observations.values()],
      };
      const decision = recordTelemetry.decide(states.get(name) ?? deviceDay.initial, input, context(), undefined);
      if (isFailure(decision)) throw new Error(decision.message);
      log.push(...decision.events);
      states.set(name, decision.events.reduce(deviceDay.fold, states.get(name) ?? deviceDay.initial));
    }
  }
  return log;
}

const rowsOf = (model: AnyReadModel, log: readonly TelemetryEvent[], batchSize?: number) =>
  rowsAfter(
    model,
    log.map((event, n) => recorded(event, n + 1)),
    batchSize,
  );
const sorted = (rows: readonly object[]) => rows.map((row) => canonicalize(row)!).toSorted();

/** The columns of a row that the direct recount covers. */
const comparable = (row: Record<string, unknown>, like: Record<string, unknown> | undefined) => {
  const names = (row['technologies'] as [string][] | undefined)?.map(([name]) => name);
  return Object.fromEntries(Object.entries({ ...row, names }).filter(([name]) => like && name in like));
};

const everything = fc
  .uniqueArray(someSeen, { maxLength: 40, selector: ({ observation }) => observation.eventId })
  .chain((all) =>
    fc.record({
      all: fc.constant(all),
      sent: fc.shuffledSubarray([...all, ...all, ...all], { minLength: all.length * 3, maxLength: all.length * 3 }),
    }),
  );

describe('discovery, counted from telemetry', () => {
  it('is the same however observations are ordered, repeated, batched and folded', () => {
    fc.assert(
      fc.property(
        everything,
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 5 }),
        ({ all, sent }, size, fold) => {
          const plain = logAfter(all, 500);
          for (const model of MODELS)
            expect([model.name, sorted(rowsOf(model, logAfter(sent, size), fold))]).toEqual([
              model.name,
              sorted(rowsOf(model, plain)),
            ]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('equals a direct recount', () => {
    fc.assert(
      fc.property(everything, ({ all, sent }) => {
        const log = logAfter(sent, 7);
        for (const [name, count] of Object.entries(recount)) {
          const expected = count(all);
          const rows = rowsOf(
            MODELS.find((model) => model.name === name)!,
            log,
          );
          expect([name, sorted(rows.map((row) => comparable(row, expected[0])))]).toEqual([name, sorted(expected)]);
        }
      }),
      { numRuns: 60 },
    );
  });
});

const seen = (n: number) => ({
  eventId: `00000000-0000-4000-9000-${String(n).padStart(12, '0')}`,
  occurredAt: new Date(NOW + n * 1_000).toISOString(),
  domain: 'a.example',
  url: `https://a.example/${n}`,
});
const visit = (n: number, over: Partial<ObservationOf<'navigation'>> = {}): Observation => ({
  kind: 'navigation',
  ...seen(n),
  title: `Page ${n}`,
  referrerDomain: null,
  technologies: [],
  isNewSite: false,
  ...over,
});
const after = (model: AnyReadModel, ...observations: Observation[]) =>
  rowsOf(model, [telemetry(observations, { userId: USERS[0], deviceId: DEVICE_OF[USERS[0]]! })]);

describe('rows of discovery', () => {
  it('stay bounded, whatever a site claims to run on', () => {
    const technologies = Array.from({ length: 100 }, (_, n) => ({ name: `technology ${n}`, version: null }));
    const [row] = after(endpoints, visit(1, { technologies }), visit(2, { technologies }));
    expect(row!['technologies']).toHaveLength(MAX_TECHNOLOGIES_PER_ENDPOINT);
    expect(row!['fingerprinted_visits']).toBe(2);
  });

  it('show the shortest page of a host without its query', () => {
    expect(
      after(
        endpointPages,
        visit(1, { url: 'https://a.example/inbox?of=kim' }),
        visit(2, { url: 'https://a.example/?q=secret#x' }),
        visit(3),
      ),
    ).toMatchObject([{ url: 'https://a.example/', title: 'Page 2' }]);
  });

  it('hold nothing of a person who was erased before they were folded', () => {
    const erased = { url: ERASED, title: ERASED };
    expect(after(endpointPages, visit(1, erased))).toEqual([]);
    const anonymous = login({ ...seen(1), username: ERASED, passwordHash: ERASED, url: ERASED });
    const [user] = after(endpointUsers, anonymous);
    expect(user).toMatchObject({ credential_ids: [], credential_count: 0, sign_ins: 1 });
  });

  it('trust a known host more than a browser about the identity provider', () => {
    const flow = (n: number, domain: string): Observation => ({
      kind: 'auth_flow',
      ...seen(n),
      domain,
      provider: 'google',
      method: 'oidc',
      relyingParty: null,
      mfaObserved: false,
      outcome: 'success',
    });
    expect(
      after(authEndpoints, flow(1, 'acme.okta.com'), flow(2, 'sso.acme.example')).map(({ provider }) => provider),
    ).toEqual(['okta', 'google']);
  });
});
