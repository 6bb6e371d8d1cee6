import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { conflict, FailureError } from '../../../platform/kernel/failure.ts';
import type { Position } from '../../../platform/kernel/event.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { Mismatch } from '../mismatch.ts';

/** A restore, with what was known when it began: a repetition finds other positions, and fewer heads and persons to lose. */
export interface Restore {
  readonly command: 'accept-log' | 'rebuild-from-log';
  readonly mismatch: Mismatch['kind'] | 'heads_lost';
  /** Of the operator, for the audit log. */
  readonly reason: string;
  readonly logEnd: Position;
  readonly tablesReached: Position;
  /** Chains whose sealed heads the log does not hold, each with the highest sequence. */
  readonly headsDropped: ReadonlyMap<TenantId, number>;
  readonly personsLost: number;
}

export interface BegunRestore extends Restore {
  /** The id of the command that records it: repeated, it records once. */
  readonly id: string;
  /** The tables follow the log. What is left to do is written to the log. */
  readonly areTablesBrought: boolean;
}

interface RestoreRow {
  readonly id: string;
  readonly command: Restore['command'];
  readonly mismatch: Restore['mismatch'];
  readonly reason: string;
  readonly log_end: string;
  readonly tables_reached: string;
  readonly heads_dropped: readonly (readonly [TenantId, number])[];
  readonly persons_lost: number;
  readonly tables_brought: boolean;
}

const FIND = `
  select id, command, mismatch, reason, log_end::text, tables_reached::text, heads_dropped, persons_lost, tables_brought
    from unfinished_restore`;
const BEGIN = `
  insert into unfinished_restore (id, command, mismatch, reason, log_end, tables_reached, heads_dropped, persons_lost)
  values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`;

/**
 * Remembers a restore until it is complete. An interruption leaves the tables changed, so nothing else shows that
 * erasures and the record in the audit log are still missing.
 */
export class UnfinishedRestore {
  readonly #pool: pg.Pool;
  #isOurs = false;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async find(): Promise<BegunRestore | undefined> {
    const [row] = (await this.#pool.query<RestoreRow>({ name: 'unfinished-restore', text: FIND })).rows;
    return (
      row && {
        id: row.id,
        command: row.command,
        mismatch: row.mismatch,
        reason: row.reason,
        logEnd: BigInt(row.log_end),
        tablesReached: BigInt(row.tables_reached),
        headsDropped: new Map(row.heads_dropped),
        personsLost: row.persons_lost,
        areTablesBrought: row.tables_brought,
      }
    );
  }

  /** Why nothing may be written, except by the process that carries the restore out. */
  async mismatch(): Promise<Mismatch | undefined> {
    const restore = this.#isOurs ? undefined : await this.find();
    return (
      restore && {
        kind: restore.mismatch === 'heads_lost' ? 'log_older' : restore.mismatch,
        reason: `\`castellan restore ${restore.command}\` was interrupted: run it again, and it goes on from there`,
      }
    );
  }

  /** Returns the interrupted one if there is one. Throws `FailureError` if that was another command. */
  async begin(restore: Restore): Promise<BegunRestore> {
    const { command, mismatch, reason, logEnd, tablesReached, headsDropped, personsLost } = restore;
    const positions = [String(logEnd), String(tablesReached)];
    const values = [
      randomUUID(),
      command,
      mismatch,
      reason,
      ...positions,
      JSON.stringify([...headsDropped]),
      personsLost,
    ];
    await this.#pool.query(BEGIN, values);
    const begun = (await this.find())!;
    if (begun.command !== command)
      throw new FailureError(
        conflict('command_refused', `\`castellan restore ${begun.command}\` was interrupted: run it again first`),
      );
    this.#isOurs = true;
    return begun;
  }

  async tablesAreBrought(): Promise<void> {
    await this.#pool.query('update unfinished_restore set tables_brought = true');
  }

  async end(): Promise<void> {
    await this.#pool.query('delete from unfinished_restore');
    this.#isOurs = false;
  }
}
