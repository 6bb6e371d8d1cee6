import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { LogTrust } from '../../../src/platform/eventstore/log-trust.ts';
import type { AnyCommand } from '../../../src/platform/kernel/command.ts';
import { integer, text } from '../../../src/platform/kernel/read-model.ts';
import { enqueue } from '../../../src/platform/kernel/job.ts';
import { conflict, unavailable } from '../../../src/platform/kernel/failure.ts';
import { defineReaction, effect, type AnyReaction } from '../../../src/platform/kernel/reaction.ts';
import { Checkpoints } from '../../../src/platform/projector/checkpoints.ts';
import { ReactionRunner, type EffectPorts } from '../../../src/platform/projector/reaction-runner.ts';
import {
  eventually,
  log,
  openProjectorApplication,
  type ProjectorApplication,
  type Process,
} from './projector-application.ts';
import { ledgerEvents } from './ledger.ts';

const greet = { name: 'greet' } as AnyCommand;
const mail = { name: 'mail', data: z.string() };
const opened = (entry: string) => ({
  type: 'EntryOpened',
  data: { entry, owner: 'bbbbbbbb-0000-4000-8000-000000000001', amount: 5 },
});
const closed = (entry: string) => ({ type: 'EntryClosed', data: { entry } });

/** Counts openings in its state; greets each with its number, and each closing regardless of state. */
const greeter: AnyReaction = defineReaction({
  name: 'when-opened-greet',
  lane: 'main',
  families: [ledgerEvents],
  state: { columns: { stream: text, opened: integer }, key: ['stream'] },
  on: {
    EntryOpened: (event) => [
      {
        key: { stream: event.stream },
        react: (row) => {
          const count = (row?.opened ?? 0) + 1;
          return {
            row: { stream: event.stream, opened: count },
            effects: [effect(greet, `${event.data.entry} ${count}`), enqueue(mail, event.data.entry)],
          };
        },
      },
    ],
    EntryClosed: (event) => [{ effects: [effect(greet, `closed ${event.data.entry}`)] }],
  },
});

describe('a reaction', () => {
  let application: ProjectorApplication;
  let asked: { input: unknown; id: string }[];
  beforeEach(async () => {
    asked = [];
    application = await openProjectorApplication([ledgerEvents]);
    await application.sql('create table mail (id text primary key, entry text)');
    await application.sql('grant all on mail to castellan_projector');
  });
  afterEach(() => application.close());

  /** Jobs are written to a table; commands are recorded, unless `fault` does otherwise. */
  const effects = (fault: (input: unknown) => unknown = () => undefined): EffectPorts => ({
    execute: (_command, input, { commandId }) => {
      asked.push({ input, id: commandId! });
      return Promise.resolve(fault(input));
    },
    enqueueWithin: async (client, { data }, { id }) => {
      await client.query('insert into mail values ($1, $2)', [id, data]);
    },
  });
  const runner = (through: EffectPorts, process: Process = application, checkpoints = checkpointsOf(process)) => {
    const { database, subscription } = process;
    return new ReactionRunner(greeter, {
      pool: database.projector,
      checkpoints,
      subscription,
      trust: new LogTrust(),
      effects: through,
      log,
      alone: false,
    });
  };
  const checkpointsOf = ({ database }: Process) => new Checkpoints(database.projector, randomUUID());
  /** The position up to which every tenant's events were processed. */
  const position = async () =>
    BigInt(
      (
        await application.sql(
          `select least(position, (select min(position) from tenant_backlogs))::text as p from cursors where kind = 'reaction'`,
        )
      )[0]!['p'] as string,
    );
  const passed = (to: bigint) => eventually(`the reaction has passed ${to}`, async () => (await position()) >= to);
  const state = async () =>
    (await application.rowsOf('when_opened_greet_state_v1')).map(({ stream, opened: count }) => [stream, count]);

  it('starts at the present: it does not react to events from before its deployment', async () => {
    await application.happen('ledger-1', [opened('past')]);
    const deployed = await application.another();
    const reaction = runner(effects(), deployed);
    await reaction.prepare();
    await application.happen('ledger-1', [opened('new')]);
    reaction.start();
    await passed(2n);
    await reaction.stop();
    expect(asked.map(({ input }) => input)).toEqual(['new 1']);
    // Deployed again, it continues from its checkpoint, not from the present.
    await application.happen('ledger-1', [opened('meanwhile')]);
    const again = runner(effects(), await application.another());
    await again.prepare();
    again.start();
    await passed(3n);
    await again.stop();
    expect(asked.map(({ input }) => input)).toEqual(['new 1', 'meanwhile 2']);
  });

  it('runs effects in the order of their events', async () => {
    const reaction = runner(effects());
    await reaction.prepare();
    await application.happen('ledger-1', [opened('a'), closed('a'), opened('b'), closed('b')]);
    reaction.start();
    await passed(4n);
    await reaction.stop();
    expect(asked.map(({ input }) => input)).toEqual(['a 1', 'closed a', 'b 2', 'closed b']);
  });

  it('needs no transaction for commands that found nothing to do or were refused', async () => {
    const outcomes: Record<string, unknown> = {
      'closed a': { position: undefined },
      'closed b': conflict(),
      'closed c': { position: 3n },
    };
    const checkpoints = checkpointsOf(application);
    const advance = vi.spyOn(checkpoints, 'advance');
    const reaction = runner(
      effects((input) => outcomes[input as string]),
      application,
      checkpoints,
    );
    await reaction.prepare();
    reaction.start();
    for (const [entry, transactions] of [['a', 0] as const, ['b', 0] as const, ['c', 1] as const]) {
      const head = await application.happen('ledger-1', [closed(entry)]);
      await passed(head);
      expect(advance, entry).toHaveBeenCalledTimes(transactions);
    }
    await reaction.stop();
  });

  it('repeats effects under the same ids if a crash between command and checkpoint leaves them in doubt', async () => {
    const crashing = runner(effects());
    await crashing.prepare();
    await application.sql(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'crash' using errcode = 'XX000'; end $$`,
    );
    await application.sql(
      `create trigger crash before update of position on cursors for each row when (new.position <> old.position) execute function refuse()`,
    );
    await application.happen('ledger-1', [opened('a'), opened('b')]);
    crashing.start();
    await eventually('it has acted twice', () => asked.length >= 4);
    await crashing.stop();
    expect(await position()).toBe(0n);
    // Neither its state nor its jobs are ahead of its checkpoint.
    expect(await state()).toEqual([]);
    expect(await application.rowsOf('mail')).toEqual([]);
    await application.sql('drop trigger crash on cursors');
    const before = asked.length;
    const next = runner(effects(), await application.another());
    next.start();
    await passed(2n);
    await next.stop();
    const [first, second, ...more] = asked.slice(before);
    expect(more).toEqual([]);
    expect([first!.input, second!.input]).toEqual(['a 1', 'b 2']);
    expect(first!.id).not.toBe(second!.id);
    expect(asked.slice(0, 2)).toEqual([first, second]);
    expect(await state()).toEqual([['ledger-1', 2]]);
    expect((await application.rowsOf('mail')).map(({ entry }) => entry).sort()).toEqual(['a', 'b']);
  });

  it('is not reported as failing by a process that has lost its lease: the new owner would never clear that', async () => {
    const reaction = runner(effects());
    await reaction.prepare();
    const [first, second] = [
      new Checkpoints(application.database.projector, randomUUID()),
      new Checkpoints(application.database.projector, randomUUID()),
    ];
    const key = { name: 'when-opened-greet', version: 1 };
    const [held] = await first.acquire([key], ['live'], false);
    await first.release([held!]);
    const [taken] = await second.acquire([key], ['live'], false);
    await first.blame(held!, 'too late');
    expect(await second.stuck()).toEqual([]);
    await second.blame(taken!, 'cannot go on');
    expect(await second.stuck()).toEqual(['when-opened-greet']);
    await first.blame(held!, null);
    expect(await second.stuck()).toEqual(['when-opened-greet']);
  });

  it('does not pass an event whose command could not run', async () => {
    let down = true;
    const reaction = runner(effects(() => (down ? unavailable() : undefined)));
    await reaction.prepare();
    await application.happen('ledger-1', [opened('a')]);
    reaction.start();
    const stuck = () => new Checkpoints(application.database.projector, randomUUID()).stuck();
    await eventually('it says that it is stuck', async () => (await stuck()).length > 0);
    expect(await stuck()).toEqual(['when-opened-greet']);
    expect(asked.length).toBeGreaterThan(1);
    expect(await position()).toBe(0n);
    down = false;
    await passed(1n);
    await eventually('it says that it goes on', async () => (await stuck()).length === 0);
    await reaction.stop();
    expect(new Set(asked.map(({ id }) => id)).size).toBe(1);
    expect(await state()).toEqual([['ledger-1', 1]]);
  });

  it('never moves back, also in a process that does not know yet how far another one came', async () => {
    const behind = await application.another({ deaf: true });
    await behind.subscription.read(0n, 10);
    const ahead = runner(effects());
    await ahead.prepare();
    ahead.start();
    await application.happen('ledger-1', [opened('a'), opened('b')]);
    await passed(2n);
    await ahead.stop();
    const next = runner(effects(), behind);
    next.start();
    await application.happen('ledger-1', [opened('c')]);
    await passed(3n);
    await next.stop();
    expect(asked.map(({ input }) => input)).toEqual(['a 1', 'b 2', 'c 3']);
    expect(await state()).toEqual([['ledger-1', 3]]);
  });
});
