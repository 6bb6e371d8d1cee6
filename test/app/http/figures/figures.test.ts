import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acknowledgeAlert } from '../../../../commands/alerts/acknowledge-alert.ts';
import { recordAlertOccurrence } from '../../../../commands/alerts/record-alert-occurrence.ts';
import { resolveAlert } from '../../../../commands/alerts/resolve-alert.ts';
import { recordTelemetry } from '../../../../commands/telemetry/record-telemetry.ts';
import { alert, alertStream } from '../../../../src/contexts/alerts/domain/alert.ts';
import { alertTypes, severities } from '../../../../src/contexts/alerts/domain/vocabulary.ts';
import type { Observation } from '../../../../src/contexts/telemetry/domain/observation.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import { accept, defineCommand, type AnyCommand } from '../../../../src/platform/kernel/command.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { Dice, someMoment, someReports, type Reporter, type Sent } from './random-history.ts';

const ADMIN = '/api/v1/admin';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Half past the hour, and three quarters: days of these zones begin at quarters of an hour in UTC. */
const ZONES = ['Asia/Kathmandu', 'America/St_Johns', 'Europe/Berlin'];
const SEEDS = (process.env['FIGURES_SEEDS'] ?? '11,12,13').split(',').map(Number);

interface ListedAlert {
  readonly id: string;
  readonly alertType: string;
  readonly severity: string;
  readonly status: string;
  readonly domain: string | null;
  readonly userId: string | null;
  readonly createdAt: string;
  readonly acknowledgedAt: string | null;
  readonly resolvedAt: string | null;
  readonly lastOccurredAt: string;
}
type Counts = Record<string, number>;

const counted = (values: readonly string[]): Counts => {
  const counts: Counts = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
};
const ranked = (counts: Counts) =>
  Object.entries(counts).toSorted(([a, n], [b, m]) => m - n || (a < b ? -1 : a > b ? 1 : 0));
const acts = (one: Observation, action: string) => 'action' in one && one.action === action;
const isNewSite = (one: Observation) => one.kind === 'navigation' && one.isNewSite;

/** The calendar day of a moment, by a way of its own: the words of the runtime for the zone. */
const words = new Map(ZONES.map((zone) => [zone, new Intl.DateTimeFormat('sv-SE', { timeZone: zone })]));
const dayOf = (zone: string, moment: string) => words.get(zone)!.format(new Date(moment));

let app: TestApp;
beforeAll(async () => {
  app = await sharedApp();
});
afterAll(() => app.close());

describe.each(SEEDS.map((seed, n) => [seed, ZONES[n % ZONES.length]!] as const))(
  'figures of a random history (seed %i, %s) equal a recount',
  (seed, zone) => {
    const dice = new Dice(seed);
    const now = Date.now();
    let acme: TestTenant;
    const reporters: Reporter[] = [];
    const deleted = new Set<string>();
    /** What counts: once per device, UTC day and id. */
    let reported: Sent[] = [];
    let alerts: ListedAlert[] = [];

    const execute = async (command: AnyCommand, input: unknown) =>
      orThrow(await app.services.executor.execute(command, input, { tenantId: acme.tenantId, actor: system('test') }));
    const get = async (path: string) => {
      const { status, body } = await acme.admin.get(`${ADMIN}/${path}`);
      expect([path, status]).toEqual([path, 200]);
      return body;
    };
    /** All rows of a list, page after page by cursor, and what the pages said about the total. */
    async function rowsOf(path: string, name: string) {
      const rows: Record<string, never>[] = [];
      const totals = new Set<number>();
      for (let after = ''; ;) {
        const body = await get(`${path}${path.includes('?') ? '&' : '?'}page_size=7${after}`);
        rows.push(...body[name]);
        totals.add(body.total);
        if (body.nextCursor === null) return { rows, totals: [...totals] };
        after = `&cursor=${body.nextCursor}`;
      }
    }

    beforeAll(async () => {
      acme = await app.newTenant();
      expect((await acme.admin.put(`${ADMIN}/settings`, { timezone: zone })).status).toBe(200);
      for (let n = 0; n < 5; n += 1) {
        const { body } = await acme.admin.post(`${ADMIN}/users`, {
          email: `p${n}@acme.example`,
          displayName: `P${n}`,
        });
        reporters.push({ userId: body.id, deviceId: dice.uuid() });
      }
      await report(someReports(dice, reporters, 150, now));
      await raiseAlerts();
      const leaver = reporters[0]!;
      expect((await acme.admin.delete(`${ADMIN}/users/${leaver.userId}`)).status).toBe(204);
      deleted.add(leaver.userId);
      await app.settled();
      alerts = (await rowsOf('alerts', 'alerts')).rows as unknown as ListedAlert[];
    });

    async function report(sent: readonly Sent[]) {
      const seen = new Map<string, Sent>();
      for (let from = 0; from < sent.length;) {
        const size = 1 + dice.below(6);
        for (const together of grouped(sent.slice(from, from + size), keyOfBatch).values()) {
          const { deviceId, userId, observation } = together[0]!;
          await execute(recordTelemetry as AnyCommand, {
            deviceId,
            userId,
            day: observation.occurredAt.slice(0, 10),
            deviceSequence: null,
            extensionMode: null,
            policyVersion: null,
            observations: withoutRepeated(together),
          });
        }
        from += size;
      }
      for (const one of sent) {
        const key = `${keyOfBatch(one)} ${one.observation.eventId}`;
        if (!seen.has(key)) seen.set(key, one);
      }
      reported = [...seen.values()];
    }

    /** Alerts of the past, with real decisions about them, and the same alert reported again. */
    async function raiseAlerts() {
      for (let n = 0; n < 40; n += 1) {
        const alertId = dice.uuid();
        const raisedAt = new Date(Math.min(now, Date.parse(someMoment(dice, now)))).toISOString();
        const data = {
          alertId,
          alertType: dice.one(alertTypes),
          severity: dice.one(severities),
          title: `Alert ${n}`,
          description: 'Something',
          fingerprint: alertId,
          userId: dice.one([null, ...reporters.map(({ userId }) => userId)]),
          deviceId: null,
          domain: dice.one(['a.example', 'b.example', null]),
          url: null,
          cause: dice.uuid(),
          metadata: {},
          raisedAt,
        };
        const raiseInThePast = defineCommand({
          name: 'RaiseInThePastForTest',
          aggregate: alert,
          stream: () => alertStream(acme.tenantId, alertId),
          decide: () => accept([{ type: 'AlertRaised' as const, data }]),
        });
        await execute(raiseInThePast as AnyCommand, undefined);
        if (dice.next() < 0.3)
          await execute(recordAlertOccurrence as AnyCommand, {
            alertId,
            cause: dice.uuid(),
            occurrences: 2,
            occurredAt: raisedAt,
          });
        if (dice.next() < 0.5) await execute(acknowledgeAlert as AnyCommand, { alertId, notes: null });
        const status = dice.one(['resolved', 'false_positive', undefined]);
        if (status) await execute(resolveAlert as AnyCommand, { alertId, status, resolution: null });
      }
    }

    const someDays = () => {
      const last = Math.floor(now / DAY) - dice.below(30);
      const [from, to] = [last - dice.below(50), last].map((day) => new Date(day * DAY).toISOString().slice(0, 10));
      return { from: from!, to: to! };
    };
    const inDays = (moment: string, { from, to }: { from: string; to: string }) =>
      dayOf(zone, moment) >= from && dayOf(zone, moment) <= to;
    const eachDay = ({ from, to }: { from: string; to: string }) =>
      Array.from({ length: (Date.parse(to) - Date.parse(from)) / DAY + 1 }, (_, n) =>
        new Date(Date.parse(from) + n * DAY).toISOString().slice(0, 10),
      );

    it('in the event viewer: statistics and lists of the same interval', async () => {
      const listed = reported.filter(({ userId }) => !deleted.has(userId));
      const kinds = { navigation: 'navigation', 'credential-attempts': 'credential_attempt', 'auth-flow': 'auth_flow' };
      for (let n = 0; n < 4; n += 1) {
        const days = someDays();
        const asked =
          n < 2
            ? `start_date=${days.from}&end_date=${days.to}`
            : `start_date=${days.from}T10:07:03.123%2B09:00&end_date=${days.to}T20:01:00Z`;
        const stats = await get(`events/stats?${asked}`);
        const within = ({ observation: { occurredAt } }: Sent) =>
          n < 2 ? inDays(occurredAt, days) : occurredAt >= stats.from && occurredAt <= stats.to;
        const there = reported.filter(within);
        const of = (...wanted: string[]) => there.filter(({ observation: { kind } }) => wanted.includes(kind)).length;
        expect(stats).toMatchObject({
          timezone: zone,
          total: there.length,
          navigation: of('navigation'),
          credentialAttempts: of('credential_attempt'),
          authFlow: of('auth_flow'),
          extension: of('extension_event', 'extension_inventory'),
        });
        expect(stats.byDay).toEqual(
          Object.entries(counted(there.map(({ observation }) => dayOf(zone, observation.occurredAt))))
            .map(([date, count]) => ({ date, count }))
            .toSorted((a, b) => (a.date < b.date ? -1 : 1)),
        );
        for (const [path, kind] of Object.entries(kinds)) {
          const interval = `start_date=${encodeURIComponent(stats.from)}&end_date=${encodeURIComponent(stats.to)}`;
          const { rows, totals } = await rowsOf(`events/${path}?${interval}`, 'events');
          const expected = listed.filter((one) => within(one) && one.observation.kind === kind);
          expect([path, totals]).toEqual([path, [expected.length]]);
          expect(rows.map(({ id, deviceId, occurredAt }) => [id, deviceId, occurredAt].join(' ')).toSorted()).toEqual(
            expected
              .map(({ deviceId, observation: { eventId, occurredAt } }) => [eventId, deviceId, occurredAt].join(' '))
              .toSorted(),
          );
        }
      }
    });

    it('on the dashboard: charts, top lists and days', async () => {
      const present = reported.filter(({ userId }) => !deleted.has(userId));
      for (let n = 0; n < 3; n += 1) {
        const days = someDays();
        const asked = `start_date=${days.from}&end_date=${days.to}`;
        const there = reported.filter(({ observation }) => inDays(observation.occurredAt, days));
        const people = present.filter(({ observation }) => inDays(observation.occurredAt, days));
        const raised = alerts.filter(({ createdAt }) => inDays(createdAt, days));
        const on = (date: string, chosen: (one: Observation) => boolean) =>
          there.filter(({ observation }) => dayOf(zone, observation.occurredAt) === date && chosen(observation)).length;
        const point = (date: string) => ({
          date,
          alerts: raised.filter(({ createdAt }) => dayOf(zone, createdAt) === date).length,
          warnings: on(date, (one) => acts(one, 'warn')),
          blocks: on(date, (one) => acts(one, 'block')),
          credentialAttempts: on(date, ({ kind }) => kind === 'credential_attempt'),
          newSites: on(date, isNewSite),
        });
        const trends = await get(`dashboard/trends?${asked}`);
        expect(trends).toEqual({
          timezone: zone,
          from: expect.any(String),
          to: expect.any(String),
          trend: eachDay(days).map(point),
        });
        const between = (one: { from: string; to: string }) =>
          `start_date=${encodeURIComponent(one.from)}&end_date=${encodeURIComponent(one.to)}`;
        expect((await get(`alerts?${between(trends)}`)).total).toBe(raised.length);
        // A time means its day, and the response says which times these are.
        const moment = dice.one([trends.from, trends.to]);
        const ofOne = await get(`dashboard/top-alert-types?${between({ from: moment, to: moment })}&limit=50`);
        const total = (ofOne.alertTypes as { count: number }[]).reduce((sum, { count }) => sum + count, 0);
        expect((await get(`alerts?${between(ofOne)}`)).total).toBe(total);
        expect([ofOne.timezone, ofOne.from <= moment, ofOne.to >= moment]).toEqual([zone, true, true]);
        expect((await get(`dashboard/new-sites-trend?${asked}`)).trend).toEqual(
          eachDay(days).map((date) => ({ date, count: on(date, isNewSite) })),
        );
        const top = async (path: string) =>
          (await get(`dashboard/${path}?${asked}`)).users.map((one: { userId: string; count: number }) => [
            one.userId,
            one.count,
          ]);
        const usersOf = (chosen: (one: Observation) => boolean) =>
          people.filter(({ observation }) => chosen(observation)).map(({ userId }) => userId);
        expect(await top('top-users-new-sites')).toEqual(ranked(counted(usersOf(isNewSite))));
        expect(await top('top-users-warnings')).toEqual(ranked(counted(usersOf((one) => acts(one, 'warn')))));
        const breached = people.flatMap(({ userId, observation: one }) =>
          one.kind === 'credential_attempt' && one.isBreached && one.passwordHash
            ? [`${userId} ${one.passwordHash}`]
            : [],
        );
        expect(await top('top-users-pwned')).toEqual(
          ranked(counted([...new Set(breached)].map((one) => one.slice(0, 36)))),
        );
        expect(
          (await get(`dashboard/top-alert-types?${asked}&limit=50`)).alertTypes.map(
            ({ alertType, count }: { alertType: string; count: number }) => [alertType, count],
          ),
        ).toEqual(ranked(counted(raised.map(({ alertType }) => alertType))));
        const date = dice.one(eachDay(days));
        const today = alerts.filter(({ createdAt }) => dayOf(zone, createdAt) === date);
        const visits = people.flatMap(({ userId, observation: one }) =>
          dayOf(zone, one.occurredAt) === date && isNewSite(one) ? [`${one.domain} ${userId}`] : [],
        );
        const newSites = ranked(counted([...new Set(visits)].map((one) => one.split(' ')[0]!)));
        expect(await get(`dashboard/day-detail?date=${date}`)).toEqual({
          timezone: zone,
          date,
          alerts: {
            total: today.length,
            bySeverity: counted(today.map(({ severity }) => severity)),
            byType: counted(today.map(({ alertType }) => alertType)),
          },
          credentialAttempts: point(date).credentialAttempts,
          warnings: point(date).warnings,
          blocks: point(date).blocks,
          newSites: newSites.map(([domain, userCount]) => ({ domain, userCount })),
          newSitesTotal: newSites.length,
          activeUsers: new Set(
            people
              .filter(({ observation }) => dayOf(zone, observation.occurredAt) === date)
              .map(({ userId }) => userId),
          ).size,
        });
      }
    });

    it('of alerts: statistics, trends, triage metrics and groups', async () => {
      const days = someDays();
      const interval = `start_date=${days.from}&end_date=${days.to}`;
      const there = alerts.filter(({ createdAt }) => inDays(createdAt, days));
      const zeros = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 0]));
      const ids = (await rowsOf(`alerts?${interval}`, 'alerts')).rows.map(({ id }) => id);
      expect(ids).toEqual(there.map(({ id }) => id));
      expect(await get(`alerts/stats?${interval}`)).toMatchObject({
        total: there.length,
        open: there.filter(({ status }) => status === 'open').length,
        resolved: there.filter(({ status }) => status === 'resolved').length,
        bySeverity: { ...zeros(severities), ...counted(there.map(({ severity }) => severity)) },
        byType: { ...zeros(alertTypes), ...counted(there.map(({ alertType }) => alertType)) },
      });
      for (const timeframe of ['24h', '7d', '30d', '90d']) {
        const metrics = await get(`alerts/triage-metrics?timeframe=${timeframe}`);
        const inWindow = alerts.filter(({ createdAt }) => createdAt >= metrics.from && createdAt <= metrics.to);
        const acknowledged = inWindow.filter(({ acknowledgedAt }) => acknowledgedAt);
        const closed = inWindow.filter(({ resolvedAt }) => resolvedAt);
        const mean = (all: readonly ListedAlert[], at: 'acknowledgedAt' | 'resolvedAt') =>
          all.length === 0
            ? null
            : all.reduce((sum, one) => sum + Date.parse(one[at]!) - Date.parse(one.createdAt), 0) / all.length / 1000;
        const length = Date.parse(metrics.to) - Date.parse(metrics.from);
        const hours = timeframe === '24h' ? 24 : 24 * Number.parseInt(timeframe, 10);
        expect(length - hours * HOUR).toBeGreaterThanOrEqual(0);
        expect(length - hours * HOUR).toBeLessThan(60_000);
        expect([timeframe, metrics.totalAlerts]).toEqual([timeframe, inWindow.length]);
        expect(metrics.mttaSeconds).toBeCloseTo(mean(acknowledged, 'acknowledgedAt') ?? 0, 3);
        expect(metrics.mttrSeconds).toBeCloseTo(mean(closed, 'resolvedAt') ?? 0, 3);
        const { trend, from, to, timezone } = await get(`alerts/trend/by-severity?timeframe=${timeframe}`);
        expect(timezone).toBe(zone);
        const bucketOf = ({ createdAt }: ListedAlert) =>
          timeframe === '24h' ? `${createdAt.slice(0, 13)}:00:00.000Z` : dayOf(zone, createdAt);
        const charted = alerts.filter(({ createdAt }) => createdAt >= from && createdAt < to);
        expect(trend.reduce((sum: number, { total }: Counts) => sum + total!, 0)).toBe(charted.length);
        for (const bucket of trend as ({ date: string } & Counts)[]) {
          const here = charted.filter((one) => bucketOf(one) === bucket.date);
          expect(bucket).toEqual({
            date: bucket.date,
            ...zeros(severities),
            ...counted(here.map(({ severity }) => severity)),
            total: here.length,
          });
        }
      }
      const { aggregates, total } = await get(`alerts/aggregated?${interval}`);
      const groups = grouped(there, ({ alertType, domain }) => `${alertType} ${domain ?? ''}`);
      expect([total, aggregates.length]).toEqual([groups.size, groups.size]);
      for (const group of aggregates) {
        const here = groups.get(`${group.alertType} ${group.domain ?? ''}`)!;
        expect(group).toMatchObject({
          count: here.length,
          userCount: new Set(here.flatMap(({ userId }) => userId ?? [])).size,
          openCount: here.filter(({ status }) => status === 'open' || status === 'acknowledged').length,
          firstSeenAt: here.map(({ createdAt }) => createdAt).toSorted()[0],
          lastSeenAt: here
            .map(({ lastOccurredAt }) => lastOccurredAt)
            .toSorted()
            .at(-1),
        });
      }
      const types = Object.fromEntries(
        (await get('filters/alert-types')).options.map(({ value, count }: { value: string; count: number }) => [
          value,
          count,
        ]),
      );
      expect(types).toEqual({ ...zeros(alertTypes), ...counted(alerts.map(({ alertType }) => alertType)) });
    });

    it('of passwords, hosts and risks, and in exports', async () => {
      const present = reported.filter(({ userId }) => !deleted.has(userId));
      const credentials = currentPasswords(present);
      const stats = await get('credential-stats');
      const of = (userId: string) => credentials.filter((one) => one.userId === userId);
      const users = reporters.map(({ userId }) => userId).filter((userId) => !deleted.has(userId));
      expect(stats).toMatchObject({
        totalUsers: users.length,
        usersWithCredentials: new Set(credentials.map(({ userId }) => userId)).size,
        totalCredentials: credentials.length,
        reusedCredentials: credentials.filter(({ isReused }) => isReused).length,
        breachedCredentials: credentials.filter(({ isBreached }) => isBreached).length,
      });
      for (const userId of users) {
        const mine = of(userId);
        expect(await get(`users/${userId}/credentials/stats`)).toMatchObject({
          totalCredentials: mine.length,
          reusedCount: mine.filter(({ isReused }) => isReused).length,
          breachedCount: mine.filter(({ isBreached }) => isBreached).length,
        });
        expect((await get(`users/${userId}/credentials`)).total).toBe(mine.length);
        const open = alerts.filter(
          (one) => one.userId === userId && (one.status === 'open' || one.status === 'acknowledged'),
        );
        const has = (...wanted: string[]) => open.some(({ severity }) => wanted.includes(severity));
        const points =
          (has('critical') ? 40 : 0) +
          (has('high') ? 25 : 0) +
          (has('medium', 'low') ? 10 : 0) +
          (mine.some(({ isBreached }) => isBreached) ? 30 : 0) +
          (mine.some(({ isReused }) => isReused) ? 15 : 0);
        const { riskScore, riskFactors } = await get(`users/${userId}`);
        expect([riskScore, riskFactors.reduce((sum: number, one: Counts) => sum + one['points']!, 0)]).toEqual([
          Math.min(100, points),
          points,
        ]);
      }
      const hosts = [...new Set(reported.flatMap(({ observation: { domain } }) => domain ?? []))];
      const { rows } = await rowsOf('endpoints', 'endpoints');
      expect(rows.map(({ subdomain, domain }) => subdomain ?? domain).toSorted()).toEqual(hosts.toSorted());
      expect((await get('endpoints/stats')).total).toBe(hosts.length);
      for (const { id, subdomain, domain, userCount } of rows as Record<string, string>[]) {
        const host = subdomain ?? domain;
        const visitors = new Set(
          present.filter(({ observation }) => observation.domain === host).map(({ userId }) => userId),
        );
        const listed = await rowsOf(`endpoints/${id}/users`, 'users');
        expect([userCount, listed.totals, listed.rows.length]).toEqual([visitors.size, [visitors.size], visitors.size]);
      }
      const exported = (await get('search/export?q=alert&type=alerts&format=json')) as unknown[];
      expect(exported).toHaveLength((await get('search?q=alert&type=alerts')).totals.alerts);
      const log = await rowsOf('audit-log?end_date=2100-01-01', 'auditLogs');
      const file = (await get('audit-log/export?end_date=2100-01-01')) as { sequence: number }[];
      expect(file.slice(0, log.rows.length).map(({ sequence }) => sequence)).toEqual(
        log.rows.map(({ sequence }) => sequence).toReversed(),
      );
    });
  },
);

const keyOfBatch = ({ deviceId, observation }: Sent) => `${deviceId} ${observation.occurredAt.slice(0, 10)}`;

function grouped<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

const withoutRepeated = (sent: readonly Sent[]): Observation[] =>
  [...grouped(sent, ({ observation }) => observation.eventId).values()].map(([first]) => first!.observation);

interface Credential {
  readonly userId: string;
  readonly isReused: boolean;
  readonly isBreached: boolean;
}

/** The accounts with the password that was entered last, and what is known about it. */
function currentPasswords(sent: readonly Sent[]): Credential[] {
  const logins = sent.flatMap(({ userId, observation: one }) =>
    one.kind === 'credential_attempt' && one.passwordHash !== null && one.domain !== null ? [{ userId, one }] : [],
  );
  const accounts = [...grouped(logins, ({ userId, one }) => `${userId} ${one.domain} ${one.username}`).values()].map(
    (uses) =>
      uses.toSorted(
        (a, b) =>
          b.one.occurredAt.localeCompare(a.one.occurredAt) || (a.one.passwordHash! < b.one.passwordHash! ? 1 : -1),
      )[0]!,
  );
  const site = (domain: string) => domain.split('.').slice(-2).join('.');
  return accounts.map(({ userId, one }) => {
    const same = accounts.filter((other) => other.userId === userId && other.one.passwordHash === one.passwordHash);
    return {
      userId,
      isReused: new Set(same.map((other) => site(other.one.domain!))).size > 1,
      isBreached: logins.some(
        (other) => other.userId === userId && other.one.passwordHash === one.passwordHash && other.one.isBreached,
      ),
    };
  });
}
