import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transaction } from '../../../src/platform/database/transaction.ts';
import { Checkpoints, LeaseLost } from '../../../src/platform/projector/checkpoints.ts';
import {
  caughtUp,
  eventually,
  openProjectorApplication,
  type ProjectorApplication,
  type Process,
} from './projector-application.ts';
import { entries, happening, ledgerEvents, pureFold, TENANTS, volumes } from './ledger.ts';

const models = [entries, volumes];
const happenings = (count: number, seed: number) =>
  fc.sample(fc.array(happening, { minLength: count, maxLength: count }), { numRuns: 1, seed })[0]!;

describe('each event takes effect exactly once', () => {
  let application: ProjectorApplication;
  let others: Process[];
  beforeAll(async () => {
    application = await openProjectorApplication([ledgerEvents]);
    others = [await application.another(), await application.another()];
  });
  afterAll(() => application.close());

  const append = async (count: number, seed: number) => {
    for (const { tenantId, event } of happenings(count, seed))
      await application.happen(`ledger-${tenantId}.${seed % 3}`, [event], tenantId);
  };
  const expectExact = async () => {
    const events = await application.everything();
    for (const model of models) expect(await application.rowsOf(model.name)).toEqual(pureFold(model, events));
  };
  /** Ends the sessions of a role, in the middle of any statement. */
  const killProjectors = () =>
    application.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'castellan/castellan_projector'`,
    );

  it('while connections are cut, statements fail at random points, and two processes steal leases from each other', async () => {
    const projectors = others.map((process) => process.projector(models));
    // The database refuses now and then: before, among and after the writes of a transaction.
    await application.sql(`create function now_and_then() returns trigger language plpgsql security definer as $$
      begin
        if random() < 0.08 then raise exception 'bad luck' using errcode = 'XX000'; end if;
        return new;
      end $$`);
    for (const projector of projectors) await projector.start();
    for (const table of ['entries_v1', 'volumes_v1', 'cursors']) {
      await application.sql(
        `create trigger now_and_then after insert or update on ${table} for each row execute function now_and_then()`,
      );
    }
    for (let round = 0; round < 12; round += 1) {
      await append(12, round);
      if (round % 3 === 0) await killProjectors();
      // Half of the leases at a time: their former owner is a zombie now, and the other may take them.
      const steal = `update cursors set epoch = epoch + 1, owner = null, leased_until = '-infinity' where random() < 0.5`;
      if (round % 3 === 1) await application.sql(steal).catch(() => undefined); // bad luck may strike here too
    }
    for (const table of ['entries_v1', 'volumes_v1', 'cursors'])
      await application.sql(`drop trigger now_and_then on ${table}`);
    const head = await application.store.head();
    await eventually('the lanes have caught up', caughtUp(projectors[0]!, head));
    await expectExact();
    await Promise.all(projectors.map((projector) => projector.stop()));
  });

  it('also when the process that held the lease dies silently: another continues', async () => {
    const [dying, heir] = [await application.another(), await application.another()];
    const first = dying.projector(models);
    await first.start();
    await append(10, 101);
    await eventually('the first holds the leases', caughtUp(first, await application.store.head()));
    // It never learns that it died: its pool is gone, so it can neither renew nor release.
    await dying.database.projector.end();
    const second = heir.projector(models);
    await second.start();
    await append(10, 102);
    await eventually('the heir has taken over', caughtUp(second, await application.store.head()));
    await expectExact();
    await second.stop();
  });

  it('with checkpoints saved at a stop, also of models that the newest event did not concern', async () => {
    const projector = application.projector(models, { alone: true });
    await projector.start();
    const tenantId = TENANTS[0]!;
    const moved = { type: 'AmountMoved', data: { from: 'a', to: 'b', amount: 1 } };
    const opened = { type: 'EntryOpened', data: { entry: 'a', owner: crypto.randomUUID(), amount: 1 } };
    await application.happen(`ledger-${tenantId}.1`, [moved], tenantId);
    for (let round = 0; round < 3; round += 1) {
      const head = await application.happen(`ledger-${tenantId}.1`, [opened], tenantId);
      expect(await application.freshness.waitFor(['entries', 'volumes'] as never, head, 25_000)).toBe(true);
    }
    await projector.stop();
    const head = await application.store.head();
    expect((await projector.checkpoints.all()).map(({ name, position }) => [name, position])).toEqual([
      ['entries', head],
      ['volumes', head],
    ]);
  });

  it('with what was appended right before a stop, so that the next process is ready at once', async () => {
    const projector = application.projector(models, { alone: true });
    await projector.start();
    const tenantId = TENANTS[0]!;
    const moved = { type: 'AmountMoved', data: { from: 'a', to: 'b', amount: 1 } };
    const first = await application.happen(`ledger-${tenantId}.1`, [moved], tenantId);
    expect(await application.freshness.waitFor(['entries', 'volumes'] as never, first, 25_000)).toBe(true);
    const last = await application.happen(`ledger-${tenantId}.1`, [moved], tenantId);
    await projector.stop();
    expect((await projector.checkpoints.all()).map(({ name, position }) => [name, position])).toEqual([
      ['entries', last],
      ['volumes', last],
    ]);
    await expectExact();
  });

  it('with no commit of a former owner: rows and checkpoint of a lost lease are rolled back', async () => {
    const [zombie, thief] = [
      new Checkpoints(application.database.projector, crypto.randomUUID()),
      new Checkpoints(application.database.projector, crypto.randomUUID()),
    ];
    const [mine] = await zombie.acquire([entries], ['live'], true);
    const [taken] = await thief.acquire([entries], ['live'], true);
    expect(taken!.epoch).toBe(mine!.epoch + 1n);
    const before = await application.rowsOf('entries');
    const write = transaction(application.database.projector, async (client) => {
      await client.query('delete from entries_v1');
      await zombie.advance(client, [{ checkpoint: mine!, from: mine!.position, to: mine!.position + 100n }]);
    });
    await expect(write).rejects.toThrow(LeaseLost);
    expect(await application.rowsOf('entries')).toEqual(before);
    await expect(zombie.renew([{ checkpoint: mine!, from: mine!.position, to: mine!.position }])).rejects.toThrow(
      LeaseLost,
    );
    await thief.renew([{ checkpoint: taken!, from: taken!.position, to: taken!.position }]);
  });

  it('also when a crash of the database undoes the newest commits of a lane that sees no error', async () => {
    const process = await application.another();
    const projector = process.projector(models);
    await projector.start();
    await append(10, 103);
    await eventually('the lane has caught up', caughtUp(projector, await application.store.head()));
    await application.sql('create table before as select * from entries_v1');
    await application.sql('create table volumes_before as select * from volumes_v1');
    await application.sql('create table cursors_before as select name, version, generation, position from cursors');
    await append(20, 104);
    await eventually('the lane has caught up again', caughtUp(projector, await application.store.head()));
    // Rows and checkpoints from before the commits that never reached the disk; leases and epochs are unchanged.
    await application.sql(`do $$ begin
      lock table entries_v1, volumes_v1, cursors in access exclusive mode;
      truncate entries_v1, volumes_v1;
      insert into entries_v1 select * from before;
      insert into volumes_v1 select * from volumes_before;
      update cursors c set position = b.position from cursors_before b where (c.name, c.version, c.generation) = (b.name, b.version, b.generation);
    end $$`);
    await append(10, 105);
    await eventually('the lane has folded what was lost', caughtUp(projector, await application.store.head()));
    await expectExact();
    await projector.stop();
  });

  it('with no commit of an owner whose checkpoint was set back, though its epoch is the newest', async () => {
    const holder = new Checkpoints(application.database.projector, crypto.randomUUID());
    const [held] = await holder.acquire([entries], ['live'], true);
    await application.sql(`update cursors set position = position - 1 where name = 'entries'`);
    const move = { checkpoint: held!, from: held!.position, to: held!.position + 5n };
    await expect(
      transaction(application.database.projector, (client) => holder.advance(client, [move])),
    ).rejects.toThrow(LeaseLost);
    await application.sql(`update cursors set position = position + 1 where name = 'entries'`);
    await expect(
      transaction(application.database.projector, (client) => holder.advance(client, [move])),
    ).resolves.toBeUndefined();
    await application.sql(`update cursors set position = position - 5 where name = 'entries'`);
  });

  it('with one of several checkpoints of a page holding back all of them', async () => {
    const holder = new Checkpoints(application.database.projector, crypto.randomUUID());
    const held = await holder.acquire([entries, volumes], ['live'], true);
    expect(held).toHaveLength(2);
    await application.sql(`update cursors set state = 'halted' where name = 'volumes'`);
    const moved = held.map((checkpoint) => ({ checkpoint, from: checkpoint.position, to: checkpoint.position + 1n }));
    await expect(
      transaction(application.database.projector, (client) => holder.advance(client, moved)),
    ).rejects.toThrow(LeaseLost);
    const after = (await holder.all()).find(({ name }) => name === 'entries')!;
    expect(after.position).toBe(held.find(({ name }) => name === 'entries')!.position);
  });

  it('also when the database turns a commit into a rollback', async () => {
    const swallowed = transaction(application.database.projector, async (client) => {
      await client.query('delete from entries_v1');
      await client.query('select 1 / 0').catch(() => undefined);
    });
    await expect(swallowed).rejects.toThrow('failed before its commit');
  });
});
