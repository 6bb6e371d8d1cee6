import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ACME, OTHER } from './audited-vault.ts';
import { COUNT, entry, two, sealedChain } from './sealed-chain.ts';

const chain = sealedChain();
const { at, sql, isNamed, everyTampering, swap, spread, correctHead, rechain, add } = chain;

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
    for (const verification of [undefined, chain.application.inSegments(3), chain.application.inSegments(5)]) {
      expect(await chain.application.verify(ACME, { verification })).toMatchObject({
        valid: true,
        entriesChecked: COUNT,
        firstInvalidSequence: null,
        reason: null,
      });
    }
    expect(await chain.application.verify(OTHER)).toMatchObject({ valid: true });
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
    const before = (await chain.application.chainOf(OTHER)).filter(
      ({ position }) => position < chain.entries[6]!.position,
    ).length;
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
