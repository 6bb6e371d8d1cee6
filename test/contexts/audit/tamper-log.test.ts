import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aDay, ACME, OTHER } from './audited-vault.ts';
import { COUNT, SEALS, entry, two, sealedChain } from './sealed-chain.ts';

const chain = sealedChain();
const { at, sql, isNamed, everyTampering, swap, shiftEvents, spread } = chain;

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
      expect(await chain.application.verify()).toMatchObject({ valid: true, entriesChecked: COUNT });
    } finally {
      await chain.putBack();
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
            const gone = chain.entries.slice(n - 1, n - 1 + many);
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
    const before = (await chain.application.chainOf(OTHER)).filter(
      ({ position }) => position < chain.entries[6]!.position,
    ).length;
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
            await chain.application.project();
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
          await chain.application.project();
        },
      })),
      20,
    ));

  it('is not found where nothing has been sealed since: a seal is evidence only of what it covers', async () => {
    try {
      chain.application.filed.length = 0;
      await sql(`delete from events where position >= $1`, [at(10)]);
      await chain.application.project();
      expect(await chain.application.verify()).toMatchObject({ valid: true, entriesChecked: 9 });
    } finally {
      await chain.putBack();
    }
  });

  it("is found when yesterday's state is restored, also after new events", async () => {
    const yesterday = await chain.application.snapshot('yesterday');
    await aDay(chain.application, 6, 30);
    await chain.application.project();
    await chain.application.seal(ACME);
    const filed = [...chain.application.filed];
    await yesterday();
    chain.application.filed.splice(0, chain.application.filed.length, ...filed);
    try {
      expect(await chain.application.verify()).toMatchObject({
        valid: false,
        reason: 'log_truncated',
        firstInvalidSequence: COUNT + 1,
      });
      await aDay(chain.application, 9, 50);
      await chain.application.project();
      expect(await chain.application.verify()).toMatchObject({
        valid: false,
        reason: 'head_mismatch',
        firstInvalidSequence: COUNT + 1,
      });
    } finally {
      await chain.putBack();
    }
  });
});
