import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FaultReason } from '../../../src/contexts/audit/diagnosis.ts';
import type { ReplayedEntry } from '../../../src/contexts/audit/chain-replay.ts';
import { aDay, ACME, openVaultHouse, OTHER, type VaultHouse } from './audited-vault.ts';

/** Entries 1 to 12, seals of 5, 9 and 12; `ENTRIES[n - 1]` is entry n. */
const COUNT = 12;
const SEALS = [5, 9, 12];
let application: VaultHouse;
let entries: readonly ReplayedEntry[];
let putBack: () => Promise<void>;
const at = (n: number) => String(entries[n - 1]!.position);
const sql = (text: string, values: unknown[] = []) => application.sql(text, values);

beforeAll(async () => {
  application = await openVaultHouse();
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

const entry = fc.integer({ min: 1, max: COUNT });
const two = fc
  .uniqueArray(entry, { minLength: 2, maxLength: 2 })
  .map((pair) => pair.sort((a, b) => a - b) as [number, number]);

interface Tampering {
  readonly how: string;
  readonly n: number;
  readonly reason: FaultReason | readonly FaultReason[];
  run(): Promise<unknown>;
}

/** `verify` names the first invalid entry and the kind of tampering, whatever was done. */
async function isNamed({ how, n, reason, run }: Tampering, tenantId = ACME): Promise<void> {
  try {
    await run();
    const allowed = Array.isArray(reason) ? reason : [reason];
    // In several pages, and in segments (followed by one page), so that tampering also crosses a boundary.
    for (const [walked, options] of Object.entries({
      'in pages': { pageSize: 5 },
      'in stretches': { verification: application.walkHere(3) },
    })) {
      const { verifiedAt: _, ...verdict } = await application.verify(tenantId, options);
      expect({
        how,
        walked,
        ...verdict,
        reason: allowed.includes(verdict.reason) ? 'as expected' : verdict.reason,
      }).toEqual({
        how,
        walked,
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

const changedRow: Record<string, string> = {
  sequence: 'sequence + 40',
  hash: `translate(hash, '0123456789abcdef', 'f0123456789abcde')`,
  previous_hash: `translate(previous_hash, '0123456789abcdef', 'f0123456789abcde')`,
  event_id: 'gen_random_uuid()',
  recorded_at: `recorded_at + interval '1 millisecond'`,
  actor_type: `'admin'`,
  actor_id: `null`,
  action: `'door.closed'`,
  resource_type: `'window'`,
  resource_id: `resource_id || ' '`,
  details: `details || ' '`,
  event: `replace(event, ',', ', ')`,
  ip_address: `''`,
  user_agent: `'curl'`,
};

describe('tampering with the audit table', () => {
  it('is not reported without any', async () => {
    for (const verification of [undefined, application.walkHere(3), application.walkHere(5)]) {
      expect(await application.verify(ACME, { verification })).toMatchObject({
        valid: true,
        entriesChecked: COUNT,
        firstInvalidSequence: null,
        reason: null,
      });
    }
    expect(await application.verify(OTHER)).toMatchObject({ valid: true });
  });

  it.each(Object.entries(changedRow))('is found when %s of an entry is changed', async (column, value) => {
    for (const n of [1, 6, COUNT]) {
      await isNamed({
        how: `${column} of ${n}`,
        n,
        reason: 'entry_changed',
        run: () =>
          sql(`update audit_log set ${column} = ${value} where tenant_id = $1 and position = $2`, [ACME, at(n)]),
      });
    }
  });

  it('is found when text is moved from one column to the next', () =>
    isNamed({
      how: 'action and resource_type',
      n: 4,
      reason: 'entry_changed',
      run: () =>
        sql(
          `update audit_log set action = action || chr(31) || resource_type, resource_type = '' where tenant_id = $1 and position = $2`,
          [ACME, at(4)],
        ),
    }));

  it('is found when entries are deleted, wherever and however many', () =>
    everyTampering(
      fc
        .record({ n: entry, many: fc.integer({ min: 1, max: COUNT }), head: fc.constantFrom('kept', 'corrected') })
        .map(({ n, many, head }) => ({
          how: `drop ${many} from ${n}, head ${head}`,
          n,
          reason: 'entry_missing',
          async run() {
            await sql(
              'delete from audit_log where tenant_id = $1 and sequence >= $2 and sequence < $3 and position > 0',
              [ACME, n, n + many],
            );
            if (head === 'corrected') await correctHead();
          },
        })),
    ));

  it('is found when all entries are deleted', () =>
    isNamed({
      how: 'truncate',
      n: 1,
      reason: 'entry_missing',
      run: () => sql('delete from audit_log where tenant_id = $1', [ACME]),
    }));

  it('is found when an entry is deleted and all later ones are renumbered and rehashed without the key', () =>
    everyTampering(
      fc.record({ n: fc.integer({ min: 1, max: COUNT - 1 }), close: fc.boolean() }).map(({ n, close }) => ({
        how: `drop ${n} and rechain${close ? ', closing up' : ''}`,
        n,
        reason: 'entry_missing',
        async run() {
          await sql('delete from audit_log where tenant_id = $1 and position = $2', [ACME, at(n)]);
          if (close)
            for (let m = n + 1; m <= COUNT; m += 1)
              await sql('update audit_log set position = $3 where tenant_id = $1 and position = $2', [
                ACME,
                at(m),
                at(m - 1),
              ]);
          await sql('update audit_log set sequence = sequence - 1 where tenant_id = $1 and sequence > $2', [ACME, n]);
          await rechain(n);
        },
      })),
      25,
    ));

  it('is found when an entry is changed and the chain is rehashed from there without the key', () =>
    everyTampering(
      entry.map((n) => ({
        how: `change ${n} and rechain`,
        n,
        reason: 'entry_changed',
        async run() {
          await sql(`update audit_log set actor_id = 'nobody' where tenant_id = $1 and position = $2`, [ACME, at(n)]);
          await rechain(n);
        },
      })),
      15,
    ));

  it('is found when an entry is added, copied or invented, between others or at the end', () =>
    everyTampering(
      fc
        .record({ of: entry, before: entry, copy: fc.boolean(), shift: fc.boolean() })
        .map(({ of, before, copy, shift }) => ({
          how: `add ${copy ? 'a copy' : 'an invention'} of ${of} before ${before}, ${shift ? 'at its place' : 'in a gap'}`,
          // A copy in the position of its original is the genuine one; the other, one position later, is the addition.
          n: copy && shift && of === before ? before + 1 : before,
          reason: 'entry_added',
          async run() {
            // Moved away first: a copy of a moved row must be a copy of its original content.
            const [row] = await sql('select * from audit_log where tenant_id = $1 and position = $2', [ACME, at(of)]);
            const place = await spread(before);
            if (shift)
              await sql('update audit_log set position = position + 1 where tenant_id = $1 and position = $2', [
                ACME,
                String(place),
              ]);
            await add({
              ...row,
              ...(copy ? {} : { event_id: randomUUID() }),
              position: String(shift ? place : place - 5n),
            });
          },
        })),
      40,
    ));

  it('is found when an entry is added after the last one, within the log or beyond its end', async () => {
    const [row] = await sql('select * from audit_log where tenant_id = $1 and position = $2', [ACME, at(COUNT)]);
    for (const ahead of [1n, 1_000n]) {
      const position = String(BigInt(at(COUNT)) + ahead);
      await isNamed({
        how: `add at ${position}`,
        n: COUNT + 1,
        reason: 'entry_added',
        run: () => add({ ...row, sequence: COUNT + 1, event_id: randomUUID(), position }),
      });
    }
    await isNamed({
      how: 'add before everything',
      n: 1,
      reason: 'entry_added',
      run: () => add({ ...row, event_id: randomUUID(), position: '-5' }),
    });
  });

  it('is found when entries are swapped, renumbered or not', () =>
    everyTampering(
      fc.record({ pair: two, renumber: fc.boolean() }).map(({ pair: [n, m], renumber }) => ({
        how: `swap ${n} and ${m}${renumber ? ', renumbered' : ''}`,
        n,
        reason: 'entries_reordered',
        async run() {
          await swap('audit_log', `tenant_id = '${ACME}' and`, at(n), at(m));
          if (renumber)
            await sql(
              `update audit_log set sequence = case position when $2 then $4::int else $5::int end where tenant_id = $1 and position in ($2, $3)`,
              [ACME, at(n), at(m), n, m],
            );
        },
      })),
      25,
    ));

  it('is found in both chains when an entry is moved to another tenant', async () => {
    const give = () =>
      sql('update audit_log set tenant_id = $2 where tenant_id = $1 and position = $3', [ACME, OTHER, at(7)]);
    await isNamed({ how: 'give away', n: 7, reason: 'entry_missing', run: give });
    const before = (await application.chainOf(OTHER)).filter(({ position }) => position < entries[6]!.position).length;
    await isNamed({ how: 'take in', n: before + 1, reason: 'entry_added', run: give }, OTHER);
  });

  it.each(['sequence = sequence - 1', `hash = repeat('0', 64)`])('is found when the head row differs (%s)', (change) =>
    isNamed({
      how: change,
      n: COUNT + 1,
      reason: 'table_head_changed',
      run: () => sql(`update audit_log set ${change} where tenant_id = $1 and position = 0`, [ACME]),
    }),
  );

  it('is found when the head row is deleted', () =>
    isNamed({
      how: 'no head',
      n: COUNT + 1,
      reason: 'table_head_changed',
      run: () => sql('delete from audit_log where tenant_id = $1 and position = 0', [ACME]),
    }));
});

const changedEvent: Record<string, string> = {
  id: 'gen_random_uuid()',
  version: 'version + 1',
  stream: `stream || 'x'`,
  revision: 'revision + 100',
  recorded_at: `recorded_at - interval '1 second'`,
  'recorded_at to infinity': `'infinity'`,
  metadata: `'{}'`,
  'metadata.actor.kind': `jsonb_set(metadata::jsonb, '{actor,kind}', '"admin"')::json`,
  'metadata.actor.ip': `jsonb_set(metadata::jsonb, '{actor,ip}', '"192.0.2.1"')::json`,
  'metadata.correlationId': `jsonb_set(metadata::jsonb, '{correlationId}', '"0"')::json`,
  'metadata.causationId': `jsonb_set(metadata::jsonb, '{causationId}', '"0"')::json`,
  'metadata.commandId': `jsonb_set(metadata::jsonb, '{commandId}', '"0"')::json`,
  data: `jsonb_set(data::jsonb, '{more}', '1')::json`,
  'data to nothing': `'null'`,
};

describe('tampering with the event log', () => {
  it.each(Object.entries(changedEvent))('is found when %s of an event is changed', async (what, value) => {
    for (const n of [1, 6, COUNT]) {
      await isNamed({
        how: `${what} of ${n}`,
        n,
        reason: 'event_changed',
        run: () => sql(`update events set ${what.split(/[. ]/)[0]} = ${value} where position = $1`, [at(n)]),
      });
    }
  });

  it('is found when the type of an event is changed, into an audited one or not', async () => {
    const become = (type: string, n: number) => () =>
      sql('update events set type = $1 where position = $2', [type, at(n)]);
    await isNamed({ how: 'audited', n: 3, reason: 'event_changed', run: become('DoorOpened', 3) });
    for (const type of ['DoorSeen', 'Nonsense', '$trimmed'])
      await isNamed({ how: type, n: 3, reason: 'event_missing', run: become(type, 3) });
    await isNamed({ how: 'the last one', n: COUNT, reason: 'log_truncated', run: become('DoorSeen', COUNT) });
  });

  it('is not reported when the same data is only encoded differently', async () => {
    await sql(`update events set data = jsonb_pretty(data::jsonb)::json where tenant_id = $1`, [ACME]);
    try {
      expect(await application.verify()).toMatchObject({ valid: true, entriesChecked: COUNT });
    } finally {
      await putBack();
    }
  });

  it('is found when events are deleted, wherever and however many', () =>
    everyTampering(
      fc
        .record({ n: entry, many: fc.integer({ min: 1, max: COUNT }), close: fc.boolean() })
        .map(({ n, many, close }) => ({
          how: `drop ${many} from ${n}${close ? ', closing up' : ''}`,
          n,
          reason: n + many > COUNT ? 'log_truncated' : 'event_missing',
          async run() {
            const gone = entries.slice(n - 1, n - 1 + many);
            for (const { position } of gone) await sql('delete from events where position = $1', [String(position)]);
            if (close) for (const { position } of gone.toReversed()) await shiftEvents(position, -1n);
          },
        })),
    ));

  it('is found when the log is truncated, including seals', () =>
    everyTampering(
      entry.map((n) => ({
        how: `cut before ${n}`,
        n,
        reason: 'log_truncated',
        run: () => sql('delete from events where position >= $1', [at(n)]),
      })),
      15,
    ));

  it('is found when a tenant has no events left', () =>
    isNamed({
      how: 'all',
      n: 1,
      reason: 'log_truncated',
      run: () => sql('delete from events where tenant_id = $1', [ACME]),
    }));

  it('is found when an event is added, copied or invented, right before another or in a gap', () =>
    everyTampering(
      fc
        .record({ of: entry, before: entry, copy: fc.boolean(), gap: fc.boolean(), damaged: fc.boolean() })
        .map(({ of, before, copy, gap, damaged }) => ({
          how: `add ${copy ? 'a copy' : 'an invention'} of ${of} before ${before}${gap ? ', in a gap' : ''}${damaged ? ', damaged' : ''}`,
          n: before,
          // A damaged event at the position of an entry's event is taken for that event.
          reason: damaged && !gap ? (['event_added', 'event_changed'] as const) : 'event_added',
          async run() {
            const [event] = await sql('select * from events where position = $1', [at(of)]);
            let place = BigInt(at(before));
            if (gap) {
              place = (await spread(before)) - 5n;
            } else await shiftEvents(place - 1n, 1n);
            await sql(
              `insert into events select $2::bigint, tenant_id, stream || '-again', revision, $3, type, version, recorded_at, ${damaged ? `'{}'` : 'metadata'}, data from events where id = $1`,
              [event!['id'], String(place), copy ? event!['id'] : randomUUID()],
            );
          },
        })),
      40,
    ));

  it('is found when events are swapped', () =>
    everyTampering(
      two.map(([n, m]) => ({
        how: `swap ${n} and ${m}`,
        n,
        reason: 'events_reordered',
        run: () => swap('events', '', at(n), at(m)),
      })),
      25,
    ));

  it('is found when the contents of events are swapped', () =>
    everyTampering(
      // Every third event is of the same type.
      fc.integer({ min: 1, max: COUNT - 3 }).map((n) => ({
        how: `exchange the data of ${n} and ${n + 3}`,
        n,
        reason: 'event_changed',
        run: () =>
          sql(
            'update events e set data = o.data from events o where (e.position, o.position) in (($1, $2), ($2, $1))',
            [at(n), at(n + 3)],
          ),
      })),
      10,
    ));

  it('is found in both chains when an event is moved to another tenant', async () => {
    const give = () => sql('update events set tenant_id = $2 where position = $1', [at(7), OTHER]);
    await isNamed({ how: 'give away', n: 7, reason: 'event_missing', run: give });
    const before = (await application.chainOf(OTHER)).filter(({ position }) => position < entries[6]!.position).length;
    await isNamed({ how: 'take in', n: before + 1, reason: 'event_added', run: give }, OTHER);
  });
});

describe('tampering with both log and table', () => {
  /** The first sequence that no valid seal covers. */
  const unvouched = (n: number) => 1 + Math.max(0, ...SEALS.filter((sealed) => sealed < n));
  const onlyTheFile = () => sql(`delete from events where type = 'AuditHeadSealed'`);
  const both = fc.record({ n: entry, seals: fc.constantFrom('kept', 'taken out') });

  it('is found by the seals, in the log or in the file, when a change is made through the service itself', () =>
    everyTampering(
      fc
        .record({
          n: entry,
          seals: fc.constantFrom('kept', 'taken out'),
          change: fc.constantFrom('change', 'drop', 'swap'),
        })
        .map(({ n, seals, change }) => ({
          how: `${change} ${n}, seals ${seals}, project again`,
          n: change === 'drop' && n > SEALS[1]! ? COUNT : unvouched(change === 'swap' ? Math.min(n, COUNT - 1) : n),
          reason: ['head_mismatch', 'log_truncated'],
          async run() {
            if (change === 'change')
              await sql(
                `update events set metadata = jsonb_set(metadata::jsonb, '{actor,kind}', '"admin"')::json where position = $1`,
                [at(n)],
              );
            if (change === 'drop') await sql('delete from events where position = $1', [at(n)]);
            if (change === 'swap') await swap('events', '', at(Math.min(n, COUNT - 1)), at(COUNT));
            if (seals === 'taken out') await onlyTheFile();
            await application.project();
          },
        })),
      40,
    ));

  it('is found when both are truncated at the same position', () =>
    everyTampering(
      both.map(({ n, seals }) => ({
        how: `cut both before ${n}, seals ${seals}`,
        n,
        reason: 'log_truncated',
        async run() {
          await sql(
            `delete from events where position >= $1 ${seals === 'kept' ? `and type <> 'AuditHeadSealed'` : ''}`,
            [at(n)],
          );
          await application.project();
        },
      })),
      20,
    ));

  it('is not found where nothing has been sealed since: a seal is evidence only of what it covers', async () => {
    try {
      application.filed.length = 0;
      await sql(`delete from events where position >= $1`, [at(10)]);
      await application.project();
      expect(await application.verify()).toMatchObject({ valid: true, entriesChecked: 9 });
    } finally {
      await putBack();
    }
  });

  it("is found when yesterday's state is restored, also after new events", async () => {
    const yesterday = await application.snapshot('yesterday');
    await aDay(application, 6, 30);
    await application.project();
    await application.seal(ACME);
    const filed = [...application.filed];
    await yesterday();
    application.filed.splice(0, application.filed.length, ...filed);
    try {
      expect(await application.verify()).toMatchObject({
        valid: false,
        reason: 'log_truncated',
        firstInvalidSequence: COUNT + 1,
      });
      await aDay(application, 9, 50);
      await application.project();
      expect(await application.verify()).toMatchObject({
        valid: false,
        reason: 'head_mismatch',
        firstInvalidSequence: COUNT + 1,
      });
    } finally {
      await putBack();
    }
  });
});

describe('tampering with seals', () => {
  const seal = (revision: number, change: string) =>
    sql(`update events set ${change} where type = 'AuditHeadSealed' and revision = $1`, [revision]);

  it.each(['sequence', 'hash', 'position', 'previous', 'mac'])('is found when %s of one is changed', async (field) => {
    const value = { sequence: '11', position: '"1"' }[field] ?? `"${'0'.repeat(64)}"`;
    await isNamed({
      how: field,
      n: SEALS[0]! + 1,
      reason: 'seal_changed',
      run: () => seal(1, `data = jsonb_set(data::jsonb, '{${field}}', '${value}')::json`),
    });
  });

  it('is found when the type or the version of one is changed, which readers use', async () => {
    await isNamed({
      how: 'type',
      n: SEALS[0]! + 1,
      reason: 'seal_changed',
      run: () => seal(1, `type = 'SomethingElse'`),
    });
    await isNamed({ how: 'version', n: SEALS[0]! + 1, reason: 'seal_changed', run: () => seal(1, 'version = 9') });
  });

  it('is found when one is removed, from the middle or from the end', async () => {
    const takeOut =
      (revision: number, close = false) =>
      async () => {
        await sql(`delete from events where type = 'AuditHeadSealed' and revision = $1`, [revision]);
        if (close)
          await sql(`update events set revision = revision - 1 where type = 'AuditHeadSealed' and revision > $1`, [
            revision,
          ]);
      };
    for (const close of [false, true])
      await isNamed({ how: 'the second', n: SEALS[0]! + 1, reason: 'seal_missing', run: takeOut(1, close) });
    await isNamed({ how: 'the last', n: SEALS[1]! + 1, reason: 'seal_missing', run: takeOut(2) });
  });

  it('is found when a line of the file is changed', () =>
    isNamed({
      how: 'file',
      n: SEALS[0]! + 1,
      reason: 'seal_changed',
      run: () => Promise.resolve(application.filed.splice(1, 1, { ...application.filed[1]!, hash: '0'.repeat(64) })),
    }));
});

describe('legitimate changes', () => {
  it('include a rebuild, which produces the same bytes', async () => {
    const before = await application.rowsOf('audit_log');
    await application.project();
    expect(await application.rowsOf('audit_log')).toEqual(before);
  });

  it('include the erasure of a person, which does not change the chain', async () => {
    const before = await application.rowsOf('audit_log');
    await application.keys.destroy(ACME, 'cccccccc-0000-4000-8000-000000000001');
    await application.project();
    expect(await application.rowsOf('audit_log')).toEqual(before);
    expect(await application.verify()).toMatchObject({ valid: true, entriesChecked: COUNT });
  });
});

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
