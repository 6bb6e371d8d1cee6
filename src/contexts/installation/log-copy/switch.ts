import type pg from 'pg';
import { transaction } from '../../../platform/database/transaction.ts';
import { FailureError, conflict } from '../../../platform/kernel/failure.ts';
import type { Position } from '../../../platform/kernel/event.ts';
import { tableName } from '../../../platform/projector/table.ts';
import type { LogCopy } from './log-copy.ts';
import { sealLog, unsealLog } from './moved-log.ts';
import { forgetLogDoubts } from '../log-doubts.ts';
import { PositionMap } from './position-map.ts';
import type { CopyParts } from './log-copy.ts';

const LEASED = `select name from cursors where leased_until > now() order by name limit 1`;
const AUDIT_TABLES = `select version, generation from cursors where name = 'audit_log' and kind = 'model'`;

interface Place {
  name: string;
  version: number;
  generation: number;
  position: string;
}

/**
 * Ends a copy: seals the old log, copies the rest of it, and moves every position stored in the database to the copy's
 * positions, in one transaction.
 *
 * Read models stay unchanged, and reactions continue after the last event that they processed. The service uses the new
 * log from its next start.
 */
export async function switchLog(copy: LogCopy, parts: CopyParts): Promise<void> {
  const { owner, source } = parts;
  const {
    rows: [busy],
  } = await owner.query<{ name: string }>(LEASED);
  if (busy)
    throw new FailureError(
      conflict(
        'command_refused',
        `a process of the service is still working on ${busy.name}: stop every process, wait ten seconds, and repeat the command`,
      ),
    );
  if (copy.record.direction === 'to') await sealLog(owner);
  while (await copy.step());
  const waiting = await copy.settle();
  if (waiting > 0) throw new Error(`${waiting} claims are held by streams that have no events`);
  const map = await PositionMap.open(owner, source, copy.target, copy.record);
  await transaction(owner, async (client) => {
    await moveCheckpoints(client, map);
    await moveForwarding(client, map);
    await moveParkedEvents(client, map);
    await moveAuditLog(client);
    await client.query('update log_watch set position = null, event_id = null');
    await forgetLogDoubts(client);
    await client.query('update idempotent_answers set log_position = null');
    await client.query('update log_copies set finished_at = now()');
    if (copy.record.direction === 'from') await unsealLog(client);
  });
}

async function moveCheckpoints(client: pg.PoolClient, map: PositionMap): Promise<void> {
  const { rows: cursors } = await client.query<Place>(
    `select name, version, generation, position::text from cursors where state <> 'retired' order by 1, 2, 3 for update`,
  );
  for (const { name, version, generation, position } of cursors) {
    const to = String(await map.checkpoint(BigInt(position)));
    await client.query(
      'update cursors set position = $4, filled_from = 0, filled_to = null, epoch = epoch + 1 where name = $1 and version = $2 and generation = $3',
      [name, version, generation, to],
    );
  }
  const { rows: backlogs } = await client.query<Place & { tenant_id: string }>(
    'select name, version, generation, tenant_id, position::text from tenant_backlogs order by 1, 2, 3, 4 for update',
  );
  for (const { name, version, generation, tenant_id, position } of backlogs) {
    const to = String(await map.checkpoint(BigInt(position)));
    await client.query(
      'update tenant_backlogs set position = $5 where name = $1 and version = $2 and generation = $3 and tenant_id = $4',
      [name, version, generation, tenant_id, to],
    );
  }
}

/** Checkpoints of log destinations, and the events of records that they refused. */
async function moveForwarding(client: pg.PoolClient, map: PositionMap): Promise<void> {
  for (const [table, column] of [
    ['log_forwarding', 'position'],
    ['log_forwarding', 'counted_to'],
    ['log_forwarding', 'until_position'],
    ['log_refused_records', 'position'],
  ] as const) {
    const { rows } = await client.query<{ position: string }>(
      `select distinct ${column}::text as position from ${table} where ${column} is not null`,
    );
    const moved: string[] = [];
    for (const { position } of rows) moved.push(String(await map.checkpoint(BigInt(position))));
    await client.query(
      `update ${table} t set ${column} = m.place from unnest($1::bigint[], $2::bigint[]) as m(former, place)
        where t.${column} = m.former`,
      [rows.map(({ position }) => position), moved],
    );
  }
  await client.query('update log_forwarding_lease set epoch = epoch + 1');
}

/** Uses negative numbers in between, because old and new positions may overlap. */
async function moveParkedEvents(client: pg.PoolClient, map: PositionMap): Promise<void> {
  const { rows } = await client.query<{ stream: string }>('select distinct stream from parked_events');
  for (const { stream } of rows) {
    const pairs = [...(await map.stream(stream))];
    await client.query(
      `update parked_events p set position = -m.place from unnest($2::bigint[], $3::bigint[]) as m(former, place)
        where p.stream = $1 and p.position = m.former`,
      [stream, pairs.map(([from]) => String(from)), pairs.map(([, to]) => String(to))],
    );
  }
  // The remaining events have expired from the source log, so they cannot be retried.
  await client.query('delete from parked_events where position > 0');
  await client.query('update parked_events set position = -position');
}

async function moveAuditLog(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ version: number; generation: number }>(AUDIT_TABLES);
  for (const { version, generation } of rows) {
    const table = tableName('audit_log', version, generation);
    await client.query(`update "${table}" set position = -position where position > 0`);
    await client.query(
      `update "${table}" a set position = m.to_position from log_copy_positions m where a.position = -m.from_position`,
    );
    const {
      rows: [lost],
    } = await client.query<{ position: string }>(
      `select (-position)::text as position from "${table}" where position < 0 limit 1`,
    );
    if (lost)
      throw new Error(
        `the audit log has an entry for position ${lost.position}, which the source log does not contain`,
      );
  }
}

/**
 * The position of the newest event that was copied, if this installation's log was copied. Seals up to it contain
 * positions of the former log.
 */
export async function copiedUpTo(pool: pg.Pool): Promise<Position | undefined> {
  const {
    rows: [row],
  } = await pool.query<{ position: string }>(
    'select target_position::text as position from log_copies where finished_at is not null',
  );
  return row && BigInt(row.position);
}
