import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { SealAlarms } from '../../contexts/audit/seal-alarms.ts';
import type { Database } from '../../platform/database/database.ts';
import type { LogTrust } from '../../platform/eventstore/log-trust.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import { Unhealthy, type Probe } from '../../platform/observability/health.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import type { ObjectStore } from '../../platform/objects/object-store.ts';
import type { Projector } from '../../platform/projector/projector.ts';
import { WrongMasterKey } from '../../platform/vault/keyrings.ts';
import type { TenantDataKeys } from '../../platform/vault/tenant-data-keys.ts';
import { lackOfSpace } from './disk-space.ts';

export interface ProbedServices {
  readonly store: EventStore;
  readonly trust: LogTrust;
  readonly database: Database;
  readonly projector: Projector;
  readonly jobs: Jobs;
  readonly redis: Redis | undefined;
  readonly objects: ObjectStore;
  readonly dataKeys: TenantDataKeys;
  readonly sealAlarms: SealAlarms;
  readonly dataDir: string;
  /** Fingerprint of this process's master key. */
  readonly fingerprint: string;
}

/** Object storage may charge for requests, and `/health` is open to everyone: probe at most this often. */
const OBJECTS_ASKED_MS = 10_000;
const OBJECTS_ANSWER_MS = 500;

/** The probes of `/health` (choice OP-253). Database, event store and keys are critical; the others only degrade. */
export const serviceProbes = ({
  store,
  trust,
  database,
  projector,
  jobs,
  redis,
  objects,
  dataKeys,
  sealAlarms,
  dataDir,
  fingerprint,
}: ProbedServices): Probe[] => [
  { name: 'postgres', critical: true, check: () => unwritable(database) },
  { name: 'eventstore', critical: true, check: () => store.ping().then(() => undefined) },
  { name: 'event_log', critical: true, check: () => Promise.resolve(logDoubt(trust)) },
  {
    name: 'redis',
    critical: false,
    // The broker for jobs and rate limits: Redis if configured, otherwise the job tables. A full Redis still responds to a ping.
    check: () => (redis ? redis.set('castellan:health', '', 'EX', 60) : jobs.counts()).then(() => undefined),
  },
  {
    name: 'master_key',
    critical: true,
    async check() {
      const retired = await database.service.asSystem('select from retired_master_keys where fingerprint = $1', [
        fingerprint,
      ]);
      if (retired.length > 0) throw new WrongMasterKey('it was retired');
      if (dataKeys.foundUnknownMasterKey) throw new WrongMasterKey('others have one that this process lacks');
      return undefined;
    },
  },
  { name: 'objects', critical: false, check: atMostEvery(OBJECTS_ASKED_MS, () => reachable(objects)) },
  { name: 'disk', critical: false, check: () => lackOfSpace(dataDir) },
  // Only known to the process that seals: role `all` or `projector`.
  { name: 'audit_seals', critical: false, check: () => Promise.resolve(sealAlarms.impairment()) },
  { name: 'projections', critical: false, check: () => projector.impairment() },
];

/** Reads go on in a database that takes no changes, such as a standby that was not promoted yet. */
async function unwritable(database: Database): Promise<string | undefined> {
  const [row] = await database.service.asSystem<{ is_read_only: boolean }>(
    `select current_setting('transaction_read_only') = 'on' as is_read_only`,
  );
  return row!.is_read_only ? 'the database is read-only: nothing can be changed' : undefined;
}

/** While the log is being checked, the service is degraded. A mismatch of log, tables and keys makes it unhealthy. */
function logDoubt({ doubt }: LogTrust): string | undefined {
  if (doubt?.kind === 'contradicted') throw new Unhealthy(doubt.reason);
  return doubt && `the event log is being checked: ${doubt.reason}`;
}

/** Without object storage, only storing and showing screenshots fails. */
const reachable = (objects: ObjectStore): Promise<string | undefined> =>
  Promise.race([
    objects.look().then(
      () => undefined,
      () => 'the object storage cannot be used',
    ),
    sleep(OBJECTS_ANSWER_MS, 'the object storage does not respond', { ref: false }),
  ]);

function atMostEvery<T>(ms: number, ask: () => Promise<T>): () => Promise<T> {
  let latest: { readonly result: Promise<T>; readonly at: number } | undefined;
  return () => {
    const now = performance.now();
    if (!latest || now - latest.at >= ms) latest = { result: ask(), at: now };
    return latest.result;
  };
}
