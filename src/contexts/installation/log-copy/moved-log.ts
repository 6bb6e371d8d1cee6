import type pg from 'pg';
import type { EventStore } from '../../../platform/eventstore/port.ts';

/**
 * A trigger that refuses every append to the log in the database. It stops processes that were left running when the
 * log was moved.
 */
const SEAL = 'log_moved';

/** The store that holds the log, if it was ever copied. The copy's record decides; without a record, the seal does. */
const WHERE = `
  select case when c.id is not null and (c.direction = 'to') <> (c.finished_at is not null) then 'postgres'
              when c.id is not null or t.oid is not null then 'eventstoredb' end as store
    from (select) one left join log_copies c on true left join pg_trigger t on t.tgrelid = 'events'::regclass and t.tgname = '${SEAL}'`;

export async function storeOfLog(pool: pg.Pool): Promise<EventStore['name'] | undefined> {
  const { rows } = await pool.query<{ store: EventStore['name'] | null }>({ name: 'store-of-log', text: WHERE });
  return rows[0]?.store ?? undefined;
}

const isSealed = async (client: Pick<pg.Pool, 'query'>): Promise<boolean> =>
  (await client.query(`select from pg_trigger where tgrelid = 'events'::regclass and tgname = $1`, [SEAL])).rows
    .length > 0;

export async function sealLog(owner: pg.Pool): Promise<void> {
  if (!(await isSealed(owner)))
    await owner.query(
      `create trigger ${SEAL} before insert on events for each statement execute function refuse_append()`,
    );
}

export async function unsealLog(client: Pick<pg.Pool, 'query'>): Promise<void> {
  await client.query(`drop trigger if exists ${SEAL} on events`);
}

/** Lets the copy itself write to a sealed log, inside a transaction. */
export async function withoutSeal<T>(client: pg.PoolClient, work: () => Promise<T>): Promise<T> {
  if (!(await isSealed(client))) return work();
  await client.query(`alter table events disable trigger ${SEAL}`);
  const result = await work();
  await client.query(`alter table events enable trigger ${SEAL}`);
  return result;
}
