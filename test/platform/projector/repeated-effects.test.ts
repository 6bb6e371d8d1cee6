import { createHash, randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { LogTrust } from '../../../src/platform/eventstore/log-trust.ts';
import { AggregateLoader } from '../../../src/platform/execution/aggregate-loader.ts';
import { Executor } from '../../../src/platform/execution/executor.ts';
import { defineAggregate, streamName } from '../../../src/platform/kernel/aggregate.ts';
import { accept, defineCommand } from '../../../src/platform/kernel/command.ts';
import { defineEvents, type EventOf } from '../../../src/platform/kernel/event.ts';
import { temporarilyUnavailable } from '../../../src/platform/kernel/failure.ts';
import { defineReaction, effect, type AnyReaction } from '../../../src/platform/kernel/reaction.ts';
import { Checkpoints } from '../../../src/platform/projector/checkpoints.ts';
import { ReactionRunner } from '../../../src/platform/projector/reaction-runner.ts';
import {
  eventually,
  log,
  openProjectorApplication,
  type ProjectorApplication,
  type Process,
} from './projector-application.ts';
import { ledgerEvents, TENANTS } from './ledger.ts';

const switchEvents = defineEvents('switch', {
  TurnedOn: { version: 1, schema: z.object({}), audit: false },
  TurnedOff: { version: 1, schema: z.object({}), audit: false },
});
const light = defineAggregate(switchEvents, { isOn: false }, (_state, { type }: EventOf<typeof switchEvents>) => ({
  isOn: type === 'TurnedOn',
}));
const lightStream = streamName('switch', TENANTS[0]!, 'light');

/** Their states do not tell a repetition from the next change. */
const turn = (isOn: boolean) =>
  defineCommand({
    name: isOn ? 'TurnOn' : 'TurnOff',
    aggregate: light,
    stream: () => lightStream,
    decide: (state) =>
      accept(state.isOn === isOn ? [] : [{ type: isOn ? ('TurnedOn' as const) : ('TurnedOff' as const), data: {} }]),
  });
const [turnOn, turnOff] = [turn(true), turn(false)];

/** Each opening turns the light on and off. */
const switcher: AnyReaction = defineReaction({
  name: 'when-opened-switch',
  lane: 'main',
  families: [ledgerEvents],
  on: { EntryOpened: () => [{ effects: [effect(turnOn, null), effect(turnOff, null)] }] },
});
const opened = {
  type: 'EntryOpened',
  data: { entry: 'a', owner: 'bbbbbbbb-0000-4000-8000-000000000001', amount: 5 },
};

describe('an effect that runs again appends nothing more', () => {
  let application: ProjectorApplication;
  const runners: ReactionRunner[] = [];
  beforeEach(async () => {
    application = await openProjectorApplication([ledgerEvents, switchEvents]);
  });
  afterEach(async () => {
    await Promise.all(runners.splice(0).map((runner) => runner.stop()));
    await application.close();
  });

  const run = async (process: Process, isAway: (command: string) => boolean = () => false) => {
    const { database, subscription, store, codec } = process;
    const executor = new Executor<unknown>(
      store,
      codec,
      new AggregateLoader(store, codec),
      (value) => createHash('sha256').update(value).digest('hex'),
      () => ({ ports: {}, compensate: async () => {} }),
    );
    const runner = new ReactionRunner(switcher, {
      pool: database.projector,
      checkpoints: new Checkpoints(database.projector, randomUUID()),
      subscription,
      trust: new LogTrust(),
      effects: {
        execute: async (command, input, execution) =>
          isAway(command.name) ? temporarilyUnavailable() : executor.execute(command, input, execution),
        enqueueWithin: async () => undefined,
      },
      log,
      alone: false,
    });
    runners.push(runner);
    await runner.prepare();
    runner.start();
    return runner;
  };
  const switched = async () => (await application.store.readStream(lightStream)).map(({ type }) => type);

  it('after a crash between the commands and the checkpoint', async () => {
    const crashing = await run(await application.another());
    await application.sql(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'crash' using errcode = 'XX000'; end $$`,
    );
    await application.sql(
      `create trigger crash before update of position on cursors for each row when (new.position <> old.position) execute function refuse()`,
    );
    const head = await application.happen('ledger-1', [opened, opened]);
    await eventually('all commands ran', async () => (await switched()).length >= 4);
    await crashing.stop();
    await application.sql('drop trigger crash on cursors');
    await run(await application.another());
    await application.reacted(head);
    expect(await switched()).toEqual(['TurnedOn', 'TurnedOff', 'TurnedOn', 'TurnedOff']);
  });

  it('after the next effect of its event could not run', async () => {
    let isAway = true;
    let refusals = 0;
    await run(application, (command) => {
      if (command !== 'TurnOff' || !isAway) return false;
      refusals += 1;
      return true;
    });
    const head = await application.happen('ledger-1', [opened]);
    await eventually('it was refused', () => refusals > 0);
    // Somebody else turns it off.
    await application.happen(lightStream, [{ type: 'TurnedOff', data: {} }]);
    isAway = false;
    await application.reacted(head);
    expect(await switched()).toEqual(['TurnedOn', 'TurnedOff']);
  });
});
