import type { Pool } from 'pg';
import { damagedHeads, SealFile } from '../../contexts/audit/seal-file.ts';
import { storeOfLog } from '../../contexts/installation/log-copy/moved-log.ts';
import { recordedLogDoubt } from '../../contexts/installation/log-doubts.ts';
import { displacedReason, movedToReason, olderReason, type Mismatch } from '../../contexts/installation/mismatch.ts';
import { lostHeads } from '../../contexts/installation/restore/lost-heads.ts';
import { UnfinishedRestore } from '../../contexts/installation/restore/unfinished-restore.ts';
import { RECOVERY_STEPS } from '../../contexts/installation/restore/restore-state.ts';
import type { DatabaseConfig } from '../../platform/database/logins.ts';
import { PostgresEventStore } from '../../platform/eventstore/postgres/postgres-event-store.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import { mayWriteIn } from '../../platform/may-write.ts';
import type { Config } from '../config/config.ts';
import { fine, finding, type Examined } from './examined.ts';
import { lossOf, lostCluster } from './lost-database.ts';

type Log = Pick<EventStore, 'head' | 'idAt' | 'readStream'>;

/** A database that the version before has migrated has no doubts of processes of this one. */
const EXISTS = `
  select to_regclass('log_watch') is not null and to_regclass('cursors') is not null as exist,
         to_regclass('log_doubts') is not null as told, to_regclass('unfinished_restore') is not null as restores`;
const KNOWN = `
  select position::text, event_id,
         (select coalesce(max(c.position), 0)::text from cursors c where c.state <> 'retired') as furthest
    from log_watch`;

interface Known {
  readonly position: string | null;
  readonly event_id: string | null;
  readonly furthest: string;
}

/**
 * Whether log, tables and sealed heads belong together (OP-567): what a running process has recorded, and, of a log in
 * PostgreSQL, what can be seen without keys. `castellan restore status` looks at everything.
 */
export const examineLog =
  ({ eventStoreUrl, dataDir }: Pick<Config, 'eventStoreUrl' | 'dataDir'>) =>
  async (pool: Pool, connection: DatabaseConfig): Promise<readonly Examined[]> => {
    const { rows } = await pool.query<{ exist: boolean; told: boolean; restores: boolean }>(EXISTS);
    if (!rows[0]!.exist) return [logOf('this database has none yet', dataDir)];
    const own: EventStore['name'] = eventStoreUrl === undefined ? 'postgres' : 'eventstoredb';
    const home = await storeOfLog(pool);
    if (home !== undefined && home !== own) return [mismatched(movedToReason(home))];
    // Before what processes have recorded: with it, only the repetition of the command helps.
    const unfinished = rows[0]!.restores ? await new UnfinishedRestore(pool).mismatch() : undefined;
    if (unfinished) return [finding(`${unfinished.kind}: ${unfinished.reason}`)];
    const recorded = rows[0]!.told ? await recordedLogDoubt(pool) : undefined;
    if (recorded) return [mismatched(recorded)];
    if (own !== 'postgres') return [fine('no mismatch is recorded; `castellan restore status` reads the log')];
    const log = new PostgresEventStore(pool, connection);
    try {
      return await examineOpenLog(pool, log, dataDir);
    } finally {
      await log.close();
    }
  };

async function examineOpenLog(pool: Pool, log: Log, dataDir: string): Promise<readonly Examined[]> {
  const found = await contradiction(pool, log);
  if (found) return [mismatched(found)];
  const lost = await lostHeads({ config: { dataDir }, store: log });
  return lost.size === 0
    ? [fine('it belongs to these tables')]
    : [
        finding(
          `audit-heads.jsonl knows sealed heads of ${lost.size} chains that the log does not hold: entries were lost or removed, or the file was changed; run \`castellan audit verify\`, and \`castellan restore status\` after a restore`,
        ),
      ];
}

/** The known positions are read before the end of the log: the log may grow in between. */
async function contradiction(pool: Pool, log: Log): Promise<Mismatch | undefined> {
  const { position, event_id: id, furthest } = (await pool.query<Known>(KNOWN)).rows[0] ?? NOTHING;
  const end = await log.head();
  if (BigInt(furthest) > end) return olderReason(end, BigInt(furthest));
  if (position === null || id === null) return undefined;
  return (await log.idAt(BigInt(position))) === id ? undefined : displacedReason(BigInt(position));
}

const logOf = (absence: string, dataDir: string): Examined => {
  const loss = lossOf(absence, dataDir);
  return loss === undefined ? fine(absence) : finding(loss);
};

/**
 * Whether the sealed heads can be compared with anything. Looked at without a database, too: an embedded one does not run
 * before the service does.
 */
export function examineHeads({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): Examined {
  const file = new SealFile(dataDir);
  const damaged = file.damagedLines();
  if (damaged > 0) return finding(damagedHeads(damaged));
  const loss = databaseUrl === undefined ? lostCluster(dataDir) : undefined;
  if (loss !== undefined) return finding(loss);
  // A user who may not write the folder either is not that of the service, or hears of the folder.
  const unwritable = mayWriteIn(dataDir) ? file.unwritable() : undefined;
  if (unwritable !== undefined)
    return finding(
      `${unwritable} cannot be written by this user, so that heads are not sealed: give it to the user of the service (chown)`,
    );
  const chains = file.owners().length;
  return fine(chains === 0 ? 'none in DATA_DIR' : `${chains} chains`);
}

const NOTHING: Known = { position: null, event_id: null, furthest: '0' };

const mismatched = ({ kind, reason }: Mismatch): Examined => finding(`${kind}: ${reason}. ${RECOVERY_STEPS[kind]}`);
