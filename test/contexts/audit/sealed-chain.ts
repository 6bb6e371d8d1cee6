import fc from 'fast-check';
import { afterAll, beforeAll, expect } from 'vitest';
import type { FaultReason } from '../../../src/contexts/audit/diagnosis.ts';
import type { ReplayedEntry } from '../../../src/contexts/audit/chain-replay.ts';
import { aDay, ACME, openAuditedVault, OTHER, type AuditedVault } from './audited-vault.ts';

/** Entries 1 to 12, seals of 5, 9 and 12. */
export const COUNT = 12;
export const SEALS = [5, 9, 12];

export const entry = fc.integer({ min: 1, max: COUNT });
export const two = fc
  .uniqueArray(entry, { minLength: 2, maxLength: 2 })
  .map((pair) => pair.sort((a, b) => a - b) as [number, number]);

export interface Tampering {
  readonly how: string;
  readonly n: number;
  readonly reason: FaultReason | readonly FaultReason[];
  run(): Promise<unknown>;
}

/** A sealed chain for the tests of the calling file, which `isNamed` restores after each tampering. */
export function sealedChain() {
  let application!: AuditedVault;
  let entries!: readonly ReplayedEntry[];
  let putBack!: () => Promise<void>;

  beforeAll(async () => {
    application = await openAuditedVault();
    let done = 0;
    for (const sealed of SEALS) {
      await aDay(application, sealed - done, done);
      await application.seal(ACME);
      done = sealed;
    }
    await aDay(application, 0, done);
    await application.happen(`sensor-${ACME}.s`, [{ type: 'DoorSeen', data: { door: 'd' } }], ACME);
    await application.happen(`door-${OTHER}.d`, [{ type: 'KeyCut', data: { keyId: 'last', notes: [] } }], OTHER);
    await application.project();
    entries = await application.chainOf(ACME);
    putBack = await application.snapshot('untouched');
  });
  afterAll(() => application?.close());

  /** `verify` names the first invalid entry and the kind of tampering, whatever was done. */
  async function isNamed({ how, n, reason, run }: Tampering, tenantId = ACME): Promise<void> {
    try {
      await run();
      const allowed = Array.isArray(reason) ? reason : [reason];
      // In several pages, and in segments (followed by one page), so that tampering also crosses a boundary.
      for (const [traversal, options] of Object.entries({
        'in pages': { pageSize: 5 },
        'in segments': { verification: application.inSegments(3) },
      })) {
        const { verifiedAt: _, ...verdict } = await application.verify(tenantId, options);
        expect({
          how,
          traversal,
          ...verdict,
          reason: allowed.includes(verdict.reason) ? 'as expected' : verdict.reason,
        }).toEqual({
          how,
          traversal,
          valid: false,
          entriesChecked: n - 1,
          firstInvalidSequence: n,
          reason: 'as expected',
        });
      }
    } finally {
      await putBack();
    }
  }

  const everyTampering = (arbitrary: fc.Arbitrary<Tampering>, numRuns = 60) =>
    fc.assert(
      fc.asyncProperty(arbitrary, (one) => isNamed(one)),
      { numRuns },
    );

  const at = (n: number) => String(entries[n - 1]!.position);
  const sql = (text: string, values: unknown[] = []) => application.sql(text, values);

  /** Swaps two rows. */
  async function swap(table: string, scope: string, one: string, other: string): Promise<void> {
    const move = (from: string, to: string) =>
      sql(`update ${table} set position = ${to} where ${scope} position = ${from}`);
    await move(one, '987654321');
    await move(other, one);
    await move('987654321', other);
  }

  /** Moves every event after a position up or down, through free positions. */
  async function shiftEvents(after: bigint, by: bigint): Promise<void> {
    await sql('update events set position = position + 1000000 where position > $1', [String(after)]);
    await sql('update events set position = position - 1000000 + $1 where position > 1000000', [String(by)]);
  }

  /** Makes gaps between all positions, in log and table alike. Returns the new position of an entry. */
  async function spread(n: number): Promise<bigint> {
    await sql('update audit_log set position = position * 10 + 1000000 where position > 0');
    await sql('update events set position = position * 10 + 1000000');
    return BigInt(at(n)) * 10n + 1_000_000n;
  }

  async function correctHead(): Promise<void> {
    const [last] = await sql(
      'select sequence, hash from audit_log where tenant_id = $1 and position > 0 order by position desc limit 1',
      [ACME],
    );
    await sql('update audit_log set sequence = $2, hash = $3 where tenant_id = $1 and position = 0', [
      ACME,
      last?.['sequence'] ?? 0,
      last?.['hash'] ?? '0'.repeat(64),
    ]);
  }

  /** An attacker's possibility without the key: hashes that match each other, without the key. */
  async function rechain(from: number): Promise<void> {
    const rows = await sql(
      'select position::text, previous_hash from audit_log where tenant_id = $1 and sequence >= $2 and position > 0 order by position',
      [ACME, from],
    );
    let before = rows[0]?.['previous_hash'] as string;
    for (const { position } of rows) {
      const [row] = await sql(
        `update audit_log set previous_hash = $3, hash = encode(sha256(convert_to($3 || details, 'UTF8')), 'hex') where tenant_id = $1 and position = $2 returning hash`,
        [ACME, position, before],
      );
      before = row!['hash'] as string;
    }
    await correctHead();
  }

  async function add(row: Record<string, unknown>): Promise<void> {
    const names = Object.keys(row);
    await sql(
      `insert into audit_log (${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
      Object.values(row),
    );
  }

  return {
    get application() {
      return application;
    },
    /** Entry n is `entries[n - 1]`. */
    get entries() {
      return entries;
    },
    at,
    sql,
    swap,
    shiftEvents,
    spread,
    correctHead,
    rechain,
    add,
    isNamed,
    everyTampering,
    putBack: () => putBack(),
  };
}
