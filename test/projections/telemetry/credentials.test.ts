import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordTelemetry } from '../../../commands/telemetry/record-telemetry.ts';
import { credentialStats } from '../../../projections/telemetry/credential-stats.ts';
import { credentialUses } from '../../../projections/telemetry/credential-uses.ts';
import { telemetryQuarters } from '../../../projections/telemetry/telemetry-quarters.ts';
import { siteOf } from '../../../src/platform/web-addresses/site.ts';
import { deviceDay } from '../../../src/contexts/telemetry/domain/device-day.ts';
import type { TelemetryEvent } from '../../../src/contexts/telemetry/domain/events.ts';
import type { ObservationOf } from '../../../src/contexts/telemetry/domain/observation.ts';
import { ERASED } from '../../../src/platform/kernel/event.ts';
import { isFailure } from '../../../src/platform/kernel/failure.ts';
import { context, NOW, recorded, rowsAfter } from '../../dsl/given.ts';
import { DAY, DEVICE, hashOf, login, telemetry, USER } from '../../dsl/observations.ts';

type Login = ObservationOf<'credential_attempt'>;

const someLogin = fc
  .record({
    eventId: fc.uuid(),
    at: fc.integer({ min: 0, max: 5 }),
    domain: fc.constantFrom('shop.example', 'www.shop.example', 'mail.example', 'bank.example'),
    url: fc.constantFrom(null, 'https://a.example/1', 'https://a.example/2'),
    username: fc.constantFrom(null, 'kim', 'kim@acme.example'),
    passwordHash: fc.constantFrom(hashOf('one'), hashOf('two'), hashOf('three')),
    isBreached: fc.boolean(),
  })
  .map(({ at, ...over }): Login => login({ ...over, occurredAt: new Date(NOW + at * 60_000).toISOString() }));
const logins = fc.uniqueArray(someLogin, { maxLength: 30, selector: ({ eventId }) => eventId });

/** The log after these batches were sent, as the command decides. */
function logAfter(batches: readonly (readonly Login[])[]): TelemetryEvent[] {
  const log: TelemetryEvent[] = [];
  let state = deviceDay.initial;
  for (const observations of batches) {
    const decision = recordTelemetry.decide(
      state,
      {
        deviceId: DEVICE,
        userId: USER,
        day: DAY,
        deviceSequence: null,
        extensionMode: 'learning',
        policyVersion: 'abc',
        observations,
      },
      context(),
      undefined,
    );
    if (isFailure(decision)) throw new Error(decision.message);
    log.push(...decision.events);
    state = decision.events.reduce(deviceDay.fold, state);
  }
  return log;
}

const tables = (log: readonly TelemetryEvent[], batchSize?: number) => {
  const events = log.map((event, n) => recorded(event, n + 1));
  return [credentialUses, credentialStats, telemetryQuarters].map((model) =>
    rowsAfter(model, events, batchSize)
      .map((row) => canonicalize(row)!)
      .toSorted(),
  );
};

/** The expected content, computed directly. */
function counted(all: readonly Login[]) {
  const accounts = new Map<string, Login[]>();
  for (const one of all)
    accounts.set(`${one.domain}|${one.username}`, [...(accounts.get(`${one.domain}|${one.username}`) ?? []), one]);
  const newest = [...accounts.values()].map((uses) =>
    uses.reduce((a, b) => (`${b.occurredAt}${b.passwordHash}` > `${a.occurredAt}${a.passwordHash}` ? b : a)),
  );
  const site = ({ domain }: Login) => siteOf(domain!);
  return {
    total_credentials: newest.length,
    total_sites: new Set(newest.map(site)).size,
    reused_count: newest.filter((a) => newest.some((b) => a.passwordHash === b.passwordHash && site(a) !== site(b)))
      .length,
    breached_count: newest.filter((a) => all.some((b) => b.isBreached && a.passwordHash === b.passwordHash)).length,
  };
}

describe('credentials, counted from telemetry', () => {
  it('are the same however observations are ordered, repeated, batched and folded', () => {
    fc.assert(
      fc.property(
        logins.chain((all) =>
          fc.record({
            all: fc.constant(all),
            sent: fc.shuffledSubarray([...all, ...all, ...all], {
              minLength: all.length * 3,
              maxLength: all.length * 3,
            }),
          }),
        ),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 5 }),
        ({ all, sent }, size, fold) => {
          const batches = Array.from({ length: Math.ceil(sent.length / size) }, (_, n) =>
            sent.slice(n * size, (n + 1) * size),
          );
          // A batch holds no id twice: the endpoint removes duplicates.
          const distinct = batches.map((batch) =>
            batch.filter(({ eventId }, at) => batch.findIndex((other) => other.eventId === eventId) === at),
          );
          expect(tables(logAfter(distinct), fold)).toEqual(tables(logAfter(all.length > 0 ? [all] : [])));
        },
      ),
    );
  });

  it('have the figures of a manual count', () => {
    fc.assert(
      fc.property(logins, (all) => {
        const [row] = rowsAfter(
          credentialStats,
          logAfter([all]).map((event, n) => recorded(event, n + 1)),
        );
        if (all.length > 0) expect(row).toMatchObject(counted(all));
        else expect(row).toBeUndefined();
      }),
    );
  });

  it('count the uses of each password for each account', () => {
    const uses = [
      login(),
      login(),
      login({ passwordHash: hashOf('two') }),
      login({ username: null }),
      login({ domain: 'mail.example', isBreached: true }),
    ];
    const rows = rowsAfter(credentialUses, [recorded(telemetry(uses), 1)]);
    expect(
      rows.map(({ domain, username, entry_count, is_breached }) => [domain, username, entry_count, is_breached]),
    ).toEqual([
      ['shop.example', 'kim', 2, false],
      ['shop.example', 'kim', 1, false],
      ['shop.example', '', 1, false],
      ['mail.example', 'kim', 1, true],
    ]);
    expect(new Set(rows.map(({ credential_id }) => credential_id)).size).toBe(3);
  });

  it('no longer report a password as reused or breached once it was changed', () => {
    const later = new Date(NOW + 60_000).toISOString();
    const before = [login({ isBreached: true }), login({ domain: 'mail.example' })];
    const figures = (all: Login[]) => rowsAfter(credentialStats, [recorded(telemetry(all), 1)])[0];
    expect(figures(before)).toMatchObject({ reused_count: 2, breached_count: 2 });
    expect(figures([...before, login({ passwordHash: hashOf('new'), occurredAt: later })])).toMatchObject({
      reused_count: 0,
      breached_count: 1,
    });
  });

  it('treat two hosts of one registrable domain as one site', () => {
    const [row] = rowsAfter(credentialStats, [
      recorded(telemetry([login({ domain: 'a.shop.example' }), login({ domain: 'b.shop.example' })]), 1),
    ]);
    expect(row).toMatchObject({ total_credentials: 2, total_sites: 1, reused_count: 0 });
  });

  it('hold nothing of an erased person, before or after', () => {
    const erasure = { type: 'EmployeeErased', data: { userId: USER } } as const;
    const gone = { ...login(), username: ERASED, passwordHash: ERASED, url: ERASED };
    const events = [recorded(telemetry([login()]), 1), recorded(erasure, 2), recorded(telemetry([gone]), 3)];
    expect([rowsAfter(credentialUses, events), rowsAfter(credentialStats, events)]).toEqual([[], []]);
    expect(
      [rowsAfter(credentialUses, events.slice(0, 1)), rowsAfter(credentialStats, events.slice(0, 1))].map(
        ({ length }) => length,
      ),
    ).toEqual([1, 1]);
  });
});
