import { createDirectorySource } from '../../commands/directory-sources/create-directory-source.ts';
import { selectDirectoryGroups } from '../../commands/directory-sources/select-directory-groups.ts';
import { startDirectorySync } from '../../commands/directory-sources/start-directory-sync.ts';
import { getDirectorySync } from '../../queries/directory-sources/directory-sync-view.ts';
import type { DirectoryConfig } from '../../src/contexts/directory-sources/domain/config.ts';
import { NO_PRIVATE_NETWORKS } from '../../src/platform/outbound/private-networks.ts';
import { readerOf } from '../../src/contexts/directory-sources/open-reader.ts';
import { enqueueDirectorySync } from '../../src/contexts/directory-sources/sync-jobs.ts';
import { system } from '../../src/platform/kernel/actor.ts';
import { orThrow } from '../../src/platform/kernel/failure.ts';
import {
  groupLdif,
  hasSlapd,
  LDAP_ADMIN,
  LDAP_BASE,
  LDAP_PASSWORD,
  personDn,
  personLdif,
  startSlapd,
} from '../../test/dsl/slapd.ts';
import { startBenchApp, type BenchApp } from '../app.ts';
import { compare, perSecond, type Row } from '../measure.ts';
import { storeRowByRow } from './row-by-row.ts';

const PEOPLE = Number(process.env['BENCH_PEOPLE'] ?? 50_000);
/** A directory to compare memory with: what is retained must not grow with the number of people. */
const FEWER = Math.ceil(PEOPLE / 5);
/** Rows of the CSV file: the limit of one import is 10,000. */
const IMPORTED = Math.min(PEOPLE, 5_000);
const IN_A_GROUP = 100;
const groupsOf = (people: number): number => Math.ceil(people / IN_A_GROUP);

function* ldif(people: number): Generator<string> {
  for (let from = 0; from < people; from += 10_000) {
    let text = '';
    for (let n = from; n < Math.min(from + 10_000, people); n += 1)
      text += personLdif(`u${n}`, {
        mail: `u${n}@acme.example`,
        displayName: `Person ${n}`,
        departmentNumber: 'Sales',
        title: 'Clerk',
      });
    yield text;
  }
  let text = '';
  for (let n = 0; n < groupsOf(people); n += 1)
    text += groupLdif(
      `g${n}`,
      Array.from({ length: IN_A_GROUP }, (_, at) => personDn(`u${(n * IN_A_GROUP + at) % people}`)),
    );
  yield text;
}

/** First and second synchronization of a large directory, beside the import of a file and the mere reading of the directory. */
export async function measure(): Promise<Row[]> {
  if (!hasSlapd()) {
    console.log('skipped: slapd is not installed');
    return [];
  }
  const slapd = await startSlapd(ldif(PEOPLE));
  const app = await startBenchApp({ devMode: true });
  try {
    const fewer = await retainedAfterFewer(app);
    const config = configOf(slapd);
    const sourceId = await sourceOf(app, config, slapd.ca);
    const rowByRow = await perSecond(IMPORTED, () => storeRowByRow(app, IMPORTED));
    const imported = await perSecond(IMPORTED, () => importFile(app));
    const read = [await reading(config, slapd.ca)];
    const before = process.memoryUsage().rss;
    const first = await synchronized(app, sourceId, PEOPLE);
    const retained = retainedHeap();
    read.push(await reading(config, slapd.ca));
    const second = await synchronized(app, sourceId, PEOPLE);
    read.push(await reading(config, slapd.ca));
    console.log(
      `memory: ${mebibytes(before)} MiB before, at most ${mebibytes(first.peak)} MiB in the first synchronization and ${mebibytes(second.peak)} MiB in the second, of ${PEOPLE} people and ${groupsOf(PEOPLE)} groups`,
    );
    console.log(
      `heap after a collection: ${fewer.before} MiB before, ${fewer.after} MiB after ${FEWER} people, ${retained} MiB after ${PEOPLE} more`,
    );
    return [
      compare(
        'first synchronization, against rows one by one',
        'people/s',
        '>= 10',
        first.rate,
        rowByRow,
        'one by one',
      ),
      compare(
        'first synchronization, against a CSV import',
        'people/s',
        'reported',
        first.rate,
        imported,
        'CSV import, which shares keys and appends',
      ),
      compare(
        'first synchronization, against reading the directory',
        'people/s',
        'reported',
        first.rate,
        read[1]!,
        'reading',
      ),
      compare(
        'second synchronization without changes, against reading',
        'people/s',
        '>= 0.5',
        second.rate,
        read[2]!,
        'reading',
      ),
    ];
  } finally {
    await app.stop();
    await slapd.stop();
  }
}

const configOf = ({ host, tlsPort }: Awaited<ReturnType<typeof startSlapd>>): DirectoryConfig => ({
  ...{ type: 'ldap', host, port: tlsPort, useTls: true, startTls: false },
  ...{ baseDn: LDAP_BASE, bindDn: LDAP_ADMIN, userFilter: null, groupFilter: null },
});

/** MiB of objects that are still in use. */
function retainedHeap(): number {
  globalThis.gc?.();
  return mebibytes(process.memoryUsage().heapUsed);
}

/** A first synchronization of a smaller directory, in a tenant of its own. */
async function retainedAfterFewer(app: BenchApp): Promise<{ before: number; after: number }> {
  const slapd = await startSlapd(ldif(FEWER));
  try {
    const before = retainedHeap();
    const other = { ...app, ...(await app.newTenant()) };
    await synchronized(other, await sourceOf(other, configOf(slapd), slapd.ca), FEWER);
    return { before, after: retainedHeap() };
  } finally {
    await slapd.stop();
  }
}

const mebibytes = (bytes: number): number => Math.round(bytes / 1024 ** 2);

async function sourceOf({ services, tenantId }: BenchApp, config: DirectoryConfig, ca: string): Promise<string> {
  const sourceId = crypto.randomUUID();
  const execution = { tenantId, actor: system('bench') };
  const common = { name: 'Bench', isEnabled: true, syncIntervalMinutes: 10_080, maxDeactivationShare: 20 };
  const source = { ...common, sourceId, config, allowPrivateNetwork: false, caCertificate: ca };
  orThrow(await services.executor.execute(createDirectorySource, { source, credential: LDAP_PASSWORD }, execution));
  const reader = readerOf({ ...source, secretRef: null }, LDAP_PASSWORD, DEVELOPMENT);
  const { groups } = await reader.groups(1_000);
  await reader.close();
  const groupIds = groups.map(({ externalId }) => externalId);
  orThrow(await services.executor.execute(selectDirectoryGroups, { sourceId, groupIds }, execution));
  return sourceId;
}

const DEVELOPMENT = { devMode: true, outboundNetworks: NO_PRIVATE_NETWORKS };

async function importFile({ url, headers }: BenchApp): Promise<void> {
  const rows = Array.from({ length: IMPORTED }, (_, n) => `import${n}@acme.example,Person ${n},Sales,Clerk`);
  const body = new FormData();
  body.set('file', new Blob([`email,displayName,department,jobTitle\n${rows.join('\n')}\n`]), 'people.csv');
  const { 'content-type': _, ...rest } = headers;
  const response = await fetch(`${url}/api/v1/admin/users/import`, { method: 'POST', headers: rest, body });
  if (response.status !== 200) throw new Error(`the import returned ${response.status}`);
}

/** Everybody, and the members of every group, as a synchronization reads them. */
async function reading(config: DirectoryConfig, ca: string): Promise<number> {
  const choice = { allowPrivateNetwork: false, caCertificate: ca };
  const source = {
    ...choice,
    sourceId: '',
    name: '',
    isEnabled: true,
    config,
    secretRef: null,
    syncIntervalMinutes: 60,
    maxDeactivationShare: 20,
  };
  return perSecond(PEOPLE, async () => {
    const reader = readerOf(source, LDAP_PASSWORD, DEVELOPMENT);
    for await (const step of reader.people()) if (step.kind === 'complete') break;
    const { groups } = await reader.groups(1_000);
    for await (const step of reader.memberships(groups.map(({ externalId }) => externalId)))
      if (step.kind === 'complete') break;
    await reader.close();
  });
}

/** Runs until the receipt, with the read models up to date. */
async function synchronized({ services, tenantId }: BenchApp, sourceId: string, people: number) {
  let peak = 0;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 50);
  const rate = await perSecond(people, async () => {
    const start = { sourceId, trigger: 'manual', isDryRun: false } as const;
    const { result } = orThrow(
      await services.executor.execute(startDirectorySync, start, { tenantId, actor: system('bench') }),
    );
    await enqueueDirectorySync(services.jobs, { tenantId, sourceId, syncId: result.syncId }, 'start');
    for (;;) {
      // What is waited too long counts as time of the synchronization.
      await new Promise((resolve) => setTimeout(resolve, 10));
      const sync = await getDirectorySync(services.reads(tenantId), { sourceId, syncId: result.syncId });
      if ('failed' in sync || sync.syncState === 'syncing') continue;
      if (sync.syncState !== 'succeeded' || sync.counts.refused > 0)
        throw new Error(`${sync.syncState}: ${sync.error}`);
      break;
    }
    await services.freshness.waitFor(services.mainModels, await services.store.head(), 600_000);
  });
  clearInterval(watch);
  return { rate, peak };
}
