import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Position } from '../../../platform/kernel/event.ts';
import { FailureError, conflict } from '../../../platform/kernel/failure.ts';
import type { TenantHashes } from './tenant-hashes.ts';

/** `to`: from the database to EventStoreDB; `from`: back. */
export type Direction = 'to' | 'from';

/** The progress of a copy, as stored in the database. */
export interface CopyRecord {
  readonly id: string;
  readonly direction: Direction;
  readonly servers: string;
  readonly sourcePosition: Position;
  readonly targetPosition: Position;
  readonly events: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly isFinished: boolean;
}

interface Row {
  id: string;
  direction: Direction;
  servers: string;
  source_position: string;
  target_position: string;
  events: string;
  started_at: string;
  is_finished: boolean;
}

const SELECT = `
  select id, direction, servers, source_position::text, target_position::text, events::text,
         floor(extract(epoch from started_at) * 1000)::bigint::text as started_at, finished_at is not null as is_finished from log_copies`;

export async function copyRecord(owner: pg.Pool): Promise<CopyRecord | undefined> {
  const {
    rows: [row],
  } = await owner.query<Row>(SELECT);
  return (
    row && {
      id: row.id,
      direction: row.direction,
      servers: row.servers,
      sourcePosition: BigInt(row.source_position),
      targetPosition: BigInt(row.target_position),
      events: Number(row.events),
      startedAt: Number(row.started_at),
      isFinished: row.is_finished,
    }
  );
}

/** The host names of EventStoreDB, without the parts that must not be stored: user, password and settings. */
export const serversOf = (url: string): string =>
  url
    .replace(/^[^:]+:\/\//, '')
    .replace(/^[^@/]*@/, '')
    .replace(/[/?].*$/, '');

/** Returns the unfinished copy in this direction, or starts a new one if the target is empty (`isEmpty`). */
export async function openCopy(
  owner: pg.Pool,
  direction: Direction,
  url: string,
  isEmpty: () => Promise<boolean>,
): Promise<CopyRecord> {
  const servers = serversOf(url);
  const known = await copyRecord(owner);
  if (known && !known.isFinished) {
    if (known.direction === direction && known.servers === servers) return known;
    throw new FailureError(
      conflict(
        'command_refused',
        `a copy ${known.direction} ${known.servers} is unfinished: finish it, or abandon it with \`castellan log abandon\``,
      ),
    );
  }
  if (!(await isEmpty())) throw new FailureError(conflict('command_refused', whyNotEmpty(known, direction, servers)));
  await clearRecord(owner);
  await owner.query('insert into log_copies (id, direction, servers) values ($1, $2, $3)', [
    randomUUID(),
    direction,
    servers,
  ]);
  return (await copyRecord(owner))!;
}

function whyNotEmpty(known: CopyRecord | undefined, direction: Direction, servers: string): string {
  if (known?.direction === direction && known.servers === servers) {
    return `the copy ${direction} ${servers} is already finished: ${direction === 'to' ? 'set EVENTSTORE_URL' : 'remove EVENTSTORE_URL'} and start the service`;
  }
  const isLeftOver = known?.direction === 'to' && direction === 'from';
  return `the target already holds events or claims: a log is copied into an empty store only${isLeftOver ? '. Delete the one that was left in PostgreSQL with `castellan log discard`' : ''}`;
}

/** Deletes the record of a copy. Events that were already written to the other store stay there. */
export async function clearRecord(owner: pg.Pool): Promise<void> {
  await owner.query('truncate log_copies, log_copy_tenants, log_copy_positions, log_copy_claims, log_copy_retention');
}

export interface CopyProgress {
  readonly record: CopyRecord;
  readonly sourcePosition: Position;
  readonly targetPosition: Position;
  readonly copied: number;
  /** Pairs of positions of lasting events: in the source and in the target. */
  readonly positions: readonly (readonly [Position, Position])[];
  readonly hashes: TenantHashes;
}

/** Records that a page was copied and that the target returned it unchanged. */
export async function saveProgress(client: Pick<pg.PoolClient, 'query'>, progress: CopyProgress): Promise<CopyRecord> {
  const { record, sourcePosition, targetPosition, copied, positions, hashes } = progress;
  await client.query('insert into log_copy_positions select * from unnest($1::bigint[], $2::bigint[])', [
    positions.map(([from]) => String(from)),
    positions.map(([, to]) => String(to)),
  ]);
  await hashes.save(client);
  const { rowCount } = await client.query(
    'update log_copies set source_position = $1, target_position = $2, events = events + $3 where id = $4 and source_position = $5 and finished_at is null',
    [String(sourcePosition), String(targetPosition), copied, record.id, String(record.sourcePosition)],
  );
  if (rowCount !== 1) throw new FailureError(conflict('command_refused', 'another process is working on this copy'));
  return { ...record, sourcePosition, targetPosition, events: record.events + copied };
}
