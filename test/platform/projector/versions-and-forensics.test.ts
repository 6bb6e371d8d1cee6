import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { RecordedEvent } from '../../../src/platform/kernel/event.ts';
import type { AnyReadModel } from '../../../src/platform/kernel/read-model.ts';
import { integer } from '../../../src/platform/kernel/read-model.ts';
import { diffModel } from '../../../src/platform/projector/diff.ts';
import { rebuildInto, rebuildLive } from '../../../src/platform/projector/rebuild.ts';
import { caughtUp, eventually, openProjectorApplication, type ProjectorApplication } from './projector-application.ts';
import { entries, happening, ledgerEvents, pureFold, TENANTS, volumes } from './ledger.ts';

const countLouder = (event: RecordedEvent<{ type: 'AmountMoved'; data: { amount: number } }>) => ({
  key: { tenant: event.tenantId },
  fold: (row: { moved: number; events: number; loudness: number } | undefined) => ({
    tenant: event.tenantId,
    moved: (row?.moved ?? 0) + event.data.amount,
    events: (row?.events ?? 0) + 1,
    loudness: (row?.loudness ?? 0) + Math.abs(event.data.amount),
  }),
});

/** The next version of `volumes` counts differently, and has one more column. */
const louder: AnyReadModel = {
  ...volumes,
  version: 2,
  columns: { ...volumes.columns, loudness: integer },
  on: { AmountMoved: countLouder as never },
};

describe('versions of a read model', () => {
  let application: ProjectorApplication;
  beforeEach(async () => {
    application = await openProjectorApplication([ledgerEvents]);
  });
  afterEach(() => application.close());

  const append = async (count: number, seed: number) => {
    for (const { tenantId, event } of fc.sample(happening, { numRuns: count, seed }))
      await application.happen(`ledger-${tenantId}.one`, [event], tenantId);
  };
  /** Appends without a pause until stopped. */
  const flood = () => {
    let flooding = true;
    const writer = async (seed: number) => {
      for (let round = 0; flooding; round += 1) {
        const some = fc.sample(happening, { numRuns: 5, seed: seed * 1_000 + round });
        await application.happen(
          `ledger-flood.${seed}`,
          some.map(({ event }) => event),
          TENANTS[0],
        );
      }
    };
    const done = Promise.all([writer(1), writer(2)]);
    return async () => {
      flooding = false;
      await done;
    };
  };

  it('are built beside the old one, and are served when they have caught up, while events keep coming', async () => {
    const old = application.projector([entries, volumes]);
    await old.start();
    await append(60, 1);
    await eventually('the old version is live', caughtUp(old, await application.store.head()));
    const expected = pureFold(volumes, await application.everything());
    const deploying = await application.another();
    const next = deploying.projector([entries, louder]);
    await next.prepare();
    // Not complete yet: queries still see the old one.
    expect(await application.rowsOf('volumes')).toEqual(expected);
    const stopFlood = flood();
    await next.start();
    await eventually('the new version is served', async () =>
      (await next.checkpoints.all()).some(
        ({ name, version, state }) => name === 'volumes' && version === 2 && state === 'live',
      ),
    );
    await stopFlood();
    await eventually('all have caught up', caughtUp(next, await application.store.head()));
    expect(await application.rowsOf('volumes')).toEqual(pureFold(louder, await application.everything()));
    expect(
      (await next.checkpoints.all())
        .filter(({ name }) => name === 'volumes')
        .map(({ version, state }) => [version, state]),
    ).toEqual([
      [1, 'retired'],
      [2, 'live'],
    ]);
    expect(await next.lagging()).toEqual([]);
  });

  it('lose nothing in a rebuild under concurrent appends, and never show less than before', async () => {
    const projector = application.projector([entries, volumes]);
    await projector.start();
    await append(50, 2);
    await eventually('live', caughtUp(projector, await application.store.head()));
    const stopFlood = flood();
    const seen: number[] = [];
    let watching = true;
    const watch = (async () => {
      while (watching)
        seen.push(Number((await application.sql(`select coalesce(sum(events), 0) as n from volumes`))[0]!['n']));
    })();
    const operator = await application.another();
    for (let time = 0; time < 2; time += 1)
      await rebuildLive(operator.parts(), operator.projector([entries, volumes]), volumes, () => undefined);
    await stopFlood();
    await eventually('all have caught up', caughtUp(projector, await application.store.head()));
    watching = false;
    await watch;
    const events = await application.everything();
    for (const model of [entries, volumes])
      expect(await application.rowsOf(model.name)).toEqual(pureFold(model, events));
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    const tables = await application.sql(
      `select relname from pg_class where relname like 'volumes%' and relkind = 'r'`,
    );
    expect(tables).toEqual([{ relname: 'volumes_v1_g3' }]);
  });

  it('that cannot be built do not block others, and are never served', async () => {
    await append(30, 3);
    const broken: AnyReadModel = {
      ...entries,
      name: 'broken',
      on: {
        EntryOpened: () => {
          throw new Error('a programming error');
        },
      },
    };
    const projector = application.projector([broken, entries, volumes]);
    await projector.start();
    await eventually(
      'the others are live',
      async () => (await projector.checkpoints.all()).filter(({ state }) => state === 'live').length === 2,
    );
    expect(await projector.lagging()).toEqual([{ name: 'broken', isServed: false }]);
    expect(await application.rowsOf('broken')).toEqual([]);
  });

  it('that another process was building when it died are built by a remaining one', async () => {
    await append(30, 4);
    const dying = (await application.another()).projector([entries]);
    await dying.prepare();
    const [held] = await dying.checkpoints.acquire([entries], ['filling'], false);
    expect(held!.state).toBe('filling');
    const heir = application.projector([entries]);
    await heir.start();
    await eventually('the heir has filled it', caughtUp(heir, await application.store.head()));
    expect(await application.rowsOf('entries')).toEqual(pureFold(entries, await application.everything()));
    // The dead one's epoch has ended, also if it was only paused.
    await expect(dying.replayCheckpoint(held!)).rejects.toThrow('the lease on a checkpoint was lost');
  });

  it('can be seen as of a position or a time', async () => {
    await append(40, 5);
    const events = await application.everything();
    const asOf = async (name: string, when: Parameters<typeof rebuildInto>[3]) => {
      await rebuildInto(application.parts(), entries, name, when);
      return application.rowsOf(`${name}.entries`);
    };
    for (const position of [0n, 1n, 17n, 40n, 1_000n]) {
      expect(await asOf(`at_${position}`, { position })).toEqual(
        pureFold(
          entries,
          events.filter((event) => event.position <= position),
        ),
      );
    }
    for (const index of [0, 20, 39]) {
      const time = events[index]!.recordedAt;
      expect(await asOf(`time_${index}`, { time })).toEqual(
        pureFold(
          entries,
          events.filter((event) => event.recordedAt <= time),
        ),
      );
    }
    expect(await asOf('before_all', { time: events[0]!.recordedAt - 1 })).toEqual([]);
  });

  it.each(['public', 'elsewhere'])('are not rebuilt into the schema %s, which no rebuild created', async (schema) => {
    await append(10, 5);
    const projector = application.projector([entries]);
    await projector.start();
    await eventually('caught up', caughtUp(projector, await application.store.head()));
    await application.sql('create schema elsewhere');
    const rows = await application.rowsOf('entries');
    await expect(rebuildInto(application.parts(), entries, schema, { position: 2n })).rejects.toThrow(
      `the schema ${schema} exists and was not created by a rebuild`,
    );
    expect(await application.rowsOf('entries')).toEqual(rows);
  });

  it('are rebuilt again into the schema of an earlier rebuild', async () => {
    await append(10, 5);
    await rebuildInto(application.parts(), entries, 'case_42', { position: 2n });
    await rebuildInto(application.parts(), entries, 'case_42', { position: 1n });
    expect(await application.rowsOf('case_42.entries')).toEqual(
      pureFold(
        entries,
        (await application.everything()).filter(({ position }) => position <= 1n),
      ),
    );
  });

  it('differ from their history exactly where they were changed by hand', async () => {
    const projector = application.projector([entries, volumes]);
    await projector.start();
    const [tenantId, other] = TENANTS;
    const opened = (entry: string) => ({
      type: 'EntryOpened',
      data: { entry, owner: 'bbbbbbbb-0000-4000-8000-000000000001', amount: 5 },
    });
    await application.happen('ledger-x.1', ['a', 'b', 'c'].map(opened), TENANTS[0]);
    await application.happen('ledger-x.2', ['a', 'b', 'c'].map(opened), TENANTS[1]);
    await eventually('live', caughtUp(projector, await application.store.head()));
    expect(await diffModel(application.parts(), entries)).toMatchObject({ rows: 6, differences: [] });
    await application.sql(
      `update entries_v1 set amount = 6, trail = '["forged"]' where entry = 'a' and tenant_id = $1`,
      [tenantId],
    );
    await application.sql(`delete from entries_v1 where entry = 'b' and tenant_id = $1`, [tenantId]);
    await application.sql(
      `insert into entries_v1 select $1, 'z', owner, amount, trail, note, changed_at from entries_v1 where entry = 'c' and tenant_id = $1`,
      [other],
    );
    const { differences } = await diffModel(application.parts(), entries);
    expect(differences).toEqual([
      { kind: 'changed', key: { tenant_id: tenantId, entry: 'a' }, columns: ['trail', 'amount'] },
      { kind: 'missing', key: { tenant_id: tenantId, entry: 'b' }, columns: [] },
      { kind: 'added', key: { tenant_id: other, entry: 'z' }, columns: [] },
    ]);
    expect((await diffModel(application.parts(), volumes)).differences).toEqual([]);
    expect(await application.sql(`select from pg_namespace where nspname like 'diff_%'`)).toEqual([]);
  });
});
