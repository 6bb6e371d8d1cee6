import { keyTracesAfter, type KeyTraces } from '../lost-keys.ts';
import type { RecordedIdentity, Mismatch } from '../mismatch.ts';
import type { Position } from '../../../platform/kernel/event.ts';
import { recordedLogDoubt } from '../log-doubts.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { BegunRestore, UnfinishedRestore } from './unfinished-restore.ts';
import { lostHeads, type LostHeadsDependencies } from './lost-heads.ts';
import type { Database } from '../../../platform/database/database.ts';
import type { EventStore } from '../../../platform/eventstore/port.ts';
import type { LogTrust } from '../../../platform/eventstore/log-trust.ts';
import type { InstallationIdentity } from '../installation-identity.ts';

export interface RestoreStateDependencies extends LostHeadsDependencies {
  readonly database: Database;
  readonly store: EventStore;
  readonly trust: LogTrust;
  readonly installation: InstallationIdentity;
  readonly unfinishedRestore: UnfinishedRestore;
}

/** The state of log, tables and keys relative to each other. */
export interface RestoreState {
  readonly mismatch: Mismatch | undefined;
  readonly log: RecordedIdentity | undefined;
  readonly tables: (RecordedIdentity & { readonly inLog: boolean }) | undefined;
  readonly end: Position;
  /** The furthest checkpoint. */
  readonly reached: Position;
  /**
   * Chains with sealed heads in this data directory that the log does not contain, each with the highest such sequence.
   */
  readonly headsLost: ReadonlyMap<TenantId, number>;
  /** A restore that was interrupted. */
  readonly unfinished: BegunRestore | undefined;
}

const REACHED = `select coalesce(max(position), 0)::text as position from cursors where state <> 'retired'`;

export async function restoreStateOf(services: RestoreStateDependencies): Promise<RestoreState> {
  const { database, installation, store, trust } = services;
  const { doubt } = trust;
  const mismatch =
    doubt?.kind === 'contradicted'
      ? { kind: doubt.mismatch, reason: doubt.reason }
      : await recordedLogDoubt(database.projector);
  const [log, tables, end, unfinished, { rows }] = await Promise.all([
    installation.inLog(),
    installation.inTables(),
    store.head(),
    services.unfinishedRestore.find(),
    database.projector.query<{ position: string }>(REACHED),
  ]);
  const headsLost = await lostHeads(services);
  return { mismatch, log, tables, end, reached: BigInt(rows[0]!.position), headsLost, unfinished };
}

/** Persons whose keys are missing, found in the events after the checkpoints. */
export const tracesBehind = (
  { store, database }: RestoreStateDependencies,
  { reached }: RestoreState,
): Promise<KeyTraces> => keyTracesAfter({ store, service: database.service }, reached);

/** How to recover from each kind of mismatch. */
export const RECOVERY_STEPS: Readonly<Record<Mismatch['kind'], string>> = {
  log_moved: 'Correct the setting, and start every process again. Nothing was written, and nothing has to be restored.',
  another_installation:
    'EVENTSTORE_URL, DATABASE_URL and the keys have to be those of one installation: correct them. Nothing was written.',
  empty_log:
    'If a copy of the log exists, restore it (EVENTSTORE_URL may name the wrong server). Otherwise `castellan restore accept-log` drops everything that the tables show.',
  log_older:
    'If a newer copy of the log exists, restore it: the service then resumes by itself. Otherwise stop every process, and run `castellan restore accept-log`, which adjusts the tables to the log. If it finds nothing to accept, log and tables went back together: start the processes.',
  tables_older:
    'If a newer dump of the database exists, restore it. Otherwise `castellan restore rebuild-from-log` brings the tables up to the log.',
  empty_tables:
    'The keys of the installation are in its database: restore the newest dump into an empty database, however old it is. Then `castellan restore rebuild-from-log` brings the tables up to the log.',
  keys_missing:
    'If a newer dump of the database exists, restore it. Otherwise `castellan restore rebuild-from-log` brings the tables up to the log, and removes the persons whose keys are lost.',
};
