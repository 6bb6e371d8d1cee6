import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { MismatchKind } from '../../platform/eventstore/log-trust.ts';
import type { Mismatch } from './mismatch.ts';

/** A doubt expires if its process has not repeated it for this long: that process has ended. */
const DOUBT_STANDS_SECONDS = 15;

/**
 * What a process may know that others cannot find: what it has read itself, and what it found by reading the log after
 * the checkpoints. The other kinds follow from settings, log and tables alone. A process that does not find them has other
 * settings than the one that does, and must not be stopped by its mistake.
 */
const OTHERS_MAY_NOT_FIND: readonly MismatchKind[] = ['log_older', 'tables_older', 'keys_missing'];

const TELL = `
  insert into log_doubts (process, mismatch, doubt) values ($1, $2, $3)
    on conflict (process) do update set mismatch = excluded.mismatch, doubt = excluded.doubt, doubted_at = now()`;
const LAST_TOLD = `
  select max(doubted_at)::text as at from log_doubts
   where doubted_at > now() - make_interval(secs => $1) and process <> $2`;
const TAKE_BACK = 'delete from log_doubts where process = $1';
const DROP_EXPIRED = `delete from log_doubts where doubted_at < now() - interval '1 hour'`;
const FORGET = [
  'delete from log_doubts',
  'update log_watch set doubt = null, mismatch = null, doubted_at = null where doubt is not null',
];
/** The row of `log_watch` is of processes of the version before. */
const STANDING = `
  select mismatch as kind, doubt as reason
    from (select process, mismatch, doubt, doubted_at from log_doubts
          union all select null, mismatch, doubt, doubted_at from log_watch where doubt is not null and mismatch is not null) each
   where doubted_at > now() - make_interval(secs => $1) and coalesce(process <> $2, true)
     and ($3::text[] is null or mismatch = any($3))
   order by doubted_at desc limit 1`;

/** What this process says of the log, and what others say, in the database that they share. */
export class LogDoubts {
  readonly #pool: pg.Pool;
  readonly #process = randomUUID();
  #hasTold = false;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** Says it, or repeats it. */
  async tell({ kind, reason }: Mismatch): Promise<void> {
    if (!this.#hasTold) await this.#pool.query(DROP_EXPIRED);
    this.#hasTold = true;
    await this.#pool.query(TELL, [this.#process, kind, reason]);
  }

  async takeBack(): Promise<void> {
    if (!this.#hasTold) return;
    await this.#pool.query(TAKE_BACK, [this.#process]);
    this.#hasTold = false;
  }

  /** When another process last doubted the log, if that still stands. */
  async lastToldByOthers(): Promise<string | null> {
    const values = [DOUBT_STANDS_SECONDS, this.#process];
    return (await this.#pool.query<{ at: string | null }>(LAST_TOLD, values)).rows[0]!.at;
  }

  /** What another process says of which this one may know nothing. Whoever repeats it tells nobody, or it would never end. */
  async ofOthers(): Promise<Mismatch | undefined> {
    const values = [DOUBT_STANDS_SECONDS, this.#process, OTHERS_MAY_NOT_FIND];
    return (await this.#pool.query<Mismatch>({ name: 'log-doubts', text: STANDING, values })).rows[0];
  }
}

/** The mismatch that a running process has recorded, if any. */
export async function recordedLogDoubt(pool: pg.Pool): Promise<Mismatch | undefined> {
  return (await pool.query<Mismatch>(STANDING, [DOUBT_STANDS_SECONDS, null, null])).rows[0];
}

/** Log and tables were brought together. A process that still finds a mismatch says so again. */
export async function forgetLogDoubts(database: { query(text: string): Promise<unknown> }): Promise<void> {
  for (const statement of FORGET) await database.query(statement);
}
