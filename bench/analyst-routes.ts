import { rmSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { readModels } from '../projections/index.ts';
import { startBenchApp, type BenchApp } from './app.ts';
import { compare, median, type Row } from './measure.ts';
import { ObservedCompany } from './observed-company.ts';

const LITTLE = 10_000;
const MUCH = 1_000_000;
/** Observations that cannot be reported and folded in this time are left out, and the output says so. */
const LOADING_MS = 240_000;
/**
 * A p95 is that of one round, and the result is the median of the rounds: one garbage collection or one checkpoint of
 * the database has no effect.
 */
const ROUNDS = 5;
/** Per round: at least this many, and as many as take this long. */
const CALLS = 40;
const ROUND_MS = 400;
const WARM = 20;

const telemetryModels = readModels.filter(({ lane }) => lane === 'telemetry').map(({ name }) => name);

/**
 * An analyst's view: every dashboard and list route of a tenant with ten thousand observations and of one with a
 * million of as many people, hosts and days, called in turns; and the rate of observations from the log into all
 * tables, compared with copying the event viewer's rows alone into a table with the same indexes.
 */
export const measure = (): Promise<Row[]> => measureAt(LITTLE, MUCH);

export async function measureAt(little: number, much: number): Promise<Row[]> {
  const app = await startBenchApp();
  const owner = new pg.Client(app.databaseConfig);
  await owner.connect();
  const young = await watched(app, little);
  const old = await watched({ ...app, ...(await app.newTenant()) }, much);
  await settled(app);
  await owner.query('vacuum analyze'); // As autovacuum does within minutes.
  const size = `${old.reported.toLocaleString('en')} observations`;
  const rows: Row[] = [];
  for (const [n, path] of old.paths.entries()) {
    const [few, many] = await p95InTurns([
      [young.app, young.paths[n]!],
      [old.app, path],
    ]);
    rows.push(
      compare(
        `p95 of GET ${path.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '{id}')} at ${size}`,
        'ms',
        '<= 2',
        many!,
        few!,
        `at ${young.reported.toLocaleString('en')}`,
      ),
    );
  }
  const copied = await copiedPerSecond(owner);
  rows.push(
    compare(`accepted, projected and queryable: ${size}`, 'observations/s', '>= 0.25', old.perSecond, copied, 'COPY'),
  );
  await owner.end();
  await app.stop();
  return rows;
}

async function watched(app: BenchApp, observations: number) {
  const company = new ObservedCompany(app);
  await company.hire();
  const loaded = await load(app, company, observations);
  return { app, ...loaded, paths: await pathsFor(app, company) };
}

/** Appends and waits until every read model of the telemetry lane shows it. */
async function load({ services }: BenchApp, company: ObservedCompany, observations: number) {
  const started = performance.now();
  const { reported, position } = await company.report(observations, started + LOADING_MS);
  const appended = performance.now();
  while (!(await services.freshness.waitFor(telemetryModels, position, 10_000)));
  const took = performance.now() - started;
  console.log(
    `      ${reported.toLocaleString('en')} observations appended in ${((appended - started) / 1_000).toFixed(1)} s, queryable after ${(took / 1_000).toFixed(1)} s`,
  );
  return { reported, perSecond: (reported * 1_000) / took };
}

/** The resulting alerts are raised as well, so that later requests wait only for their own reads. */
async function settled({ services: { store, projector } }: BenchApp): Promise<void> {
  const cursors = async () => (await projector.checkpoints.all()).filter(({ state }) => state !== 'retired');
  for (;;) {
    const head = await store.head();
    const isWorked =
      (await cursors()).every(({ position }) => position >= head) && (await projector.backlogs.counts()).size === 0;
    if (isWorked && (await store.head()) === head) return;
    await setTimeout(100);
  }
}

async function pathsFor({ url, headers, services }: BenchApp, { people }: ObservedCompany): Promise<string[]> {
  const get = async (path: string) =>
    (await fetch(`${url}/api/v1/admin/${path}`, { headers })).json() as Promise<{
      endpoints: { id: string }[];
      authEndpoints: { id: string }[];
    }>;
  await services.freshness.waitFor(services.mainModels, await services.head(), 10_000);
  const endpoint = (await get('endpoints?search=site0.example')).endpoints[0]!.id;
  const authEndpoint = (await get('auth-endpoints')).authEndpoints[0]!.id;
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const user = people[0]!.userId;
  return [
    'endpoints', 'endpoints?classification=unknown', 'endpoints?search=site1', 'endpoints/stats', `endpoints/${endpoint}`, `endpoints/${endpoint}/users`,
    'auth-endpoints', 'auth-endpoints/stats', `auth-endpoints/${authEndpoint}/users`, `auth-endpoints/${authEndpoint}/relying-parties`,
    'attack-surface', 'attack-surface/domain/site2.example', 'attack-surface/subdomain/app.site2.example',
    'extension-monitoring/inventory', 'extension-monitoring/inventory?search=extension%2012', 'extension-monitoring/inventory/unwhitelisted', 'extension-monitoring/inventory/stats',
    'extension-monitoring/inventory/aggregates', 'extension-monitoring/events', 'extension-monitoring/extension/extension-0',
    'dashboard/top-users-new-sites', 'dashboard/top-users-warnings', 'dashboard/top-users-pwned', 'dashboard/top-alert-types', 'dashboard/trends',
    'dashboard/new-sites-trend', 'dashboard/policy-deployment', 'dashboard/policy-deployment-trend', `dashboard/day-detail?date=${yesterday}`,
    'search?q=site12', 'filters/users', 'filters/devices', 'filters/technologies', 'filters/alert-types',
    'events/stats', 'events/navigation', 'events/credential-attempts', 'events/auth-flow', `events/navigation?user_id=${user}`,
    `users/${user}/credentials`, `users/${user}/credentials/stats`, `users/${user}/credentials/reuse-records`, 'credential-stats',
  ]; // prettier-ignore
}

type Side = readonly [BenchApp, string];

async function p95InTurns(sides: readonly Side[]): Promise<number[]> {
  const [warm] = await callsInTurns(sides, WARM);
  const calls = Math.max(CALLS, Math.ceil(ROUND_MS / median(warm!)));
  const seen: number[][] = sides.map(() => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    const took = await callsInTurns(sides, calls);
    for (const [side, times] of took.entries())
      seen[side]!.push(times.toSorted((a, b) => a - b)[Math.floor(calls * 0.95)]!);
  }
  return seen.map(median);
}

/** One call of each side after the other, so that other load on the machine affects both. */
async function callsInTurns(sides: readonly Side[], calls: number): Promise<number[][]> {
  const took: number[][] = sides.map(() => []);
  for (let n = 0; n < calls; n += 1) {
    for (const [side, [{ url, headers }, path]] of sides.entries()) {
      const started = performance.now();
      const answer = await fetch(`${url}/api/v1/admin/${path}`, { headers });
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`${path} responded with ${answer.status}`);
      took[side]!.push(performance.now() - started);
    }
  }
  return took;
}

/**
 * The rows of the event viewer, from a file into a table with the same indexes: the best possible rate of the database.
 */
async function copiedPerSecond(owner: pg.Client): Promise<number> {
  const file = `/var/tmp/castellan-bench-${process.pid}.copy`;
  const { rows } = await owner.query<{ table_name: string }>(
    `select table_name from information_schema.tables where table_name like 'observations\\_v%'`,
  );
  const table = rows[0]!.table_name;
  await owner.query(`copy ${table} to '${file}'`);
  await owner.query(`create table copied (like ${table} including all)`);
  const started = performance.now();
  const { rowCount } = await owner.query(`copy copied from '${file}'`);
  const took = performance.now() - started;
  rmSync(file, { force: true });
  return (rowCount! * 1_000) / took;
}
