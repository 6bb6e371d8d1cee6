import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { EventCodec } from '../../../src/platform/eventstore/codec.ts';
import type { EventStore } from '../../../src/platform/eventstore/port.ts';
import { AggregateLoader } from '../../../src/platform/execution/aggregate-loader.ts';
import { Executor } from '../../../src/platform/execution/executor.ts';
import { defineAggregate, streamName } from '../../../src/platform/kernel/aggregate.ts';
import { accept, defineCommand } from '../../../src/platform/kernel/command.ts';
import { defineEvents, type EventOf } from '../../../src/platform/kernel/event.ts';
import { orThrow } from '../../../src/platform/kernel/failure.ts';
import { withNode } from '../../fixtures/eventstoredb/with-node.ts';
import { MemoryPersonKeys, openProjectorApplication } from '../projector/projector-application.ts';
import { TENANTS } from '../projector/ledger.ts';

const switchEvents = defineEvents('switch', {
  TurnedOn: { version: 1, schema: z.object({}), audit: false },
  TurnedOff: { version: 1, schema: z.object({}), audit: false },
});
const light = defineAggregate(switchEvents, { isOn: false }, (_state, { type }: EventOf<typeof switchEvents>) => ({
  isOn: type === 'TurnedOn',
}));
const stream = streamName('switch', TENANTS[0]!, 'light');

/** Their states do not tell a repetition from the next change. */
const turnOn = defineCommand({
  name: 'TurnOn',
  aggregate: light,
  stream: () => stream,
  decide: ({ isOn }) => accept(isOn ? [] : [{ type: 'TurnedOn' as const, data: {} }]),
});
const turnOff = defineCommand({
  name: 'TurnOff',
  aggregate: light,
  stream: () => stream,
  decide: ({ isOn }) => accept(isOn ? [{ type: 'TurnedOff' as const, data: {} }] : []),
});

const codec = new EventCodec([switchEvents], new MemoryPersonKeys());
const digest = (value: string) => createHash('sha256').update(value).digest('hex');
/** A separate process: it has seen nothing of the others. */
const newExecutor = (store: EventStore) =>
  new Executor<unknown>(store, codec, new AggregateLoader(store, codec), digest, () => ({
    ports: {},
    compensate: async () => {},
  }));
const by = { tenantId: TENANTS[0]!, actor: { kind: 'system' as const, id: 'test' } };

/** A store whose calls of this function wait until `go`. */
function pausing(store: EventStore, method: 'append' | 'readStream') {
  let go = () => {};
  const gone = new Promise<void>((resolve) => (go = resolve));
  let reach = () => {};
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const paused = new Proxy(store, {
    get(target, key) {
      const value = Reflect.get(target, key) as unknown;
      if (typeof value !== 'function') return value;
      return async (...given: unknown[]) => {
        if (key === method) {
          reach();
          await gone;
        }
        return (value as (...given: unknown[]) => unknown).apply(target, given);
      };
    },
  });
  return { paused, reached, go };
}

function counting(store: EventStore) {
  const tails: number[] = [];
  const counted = new Proxy(store, {
    get(target, key) {
      const value = Reflect.get(target, key) as unknown;
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        if (key === 'readStreamTail') tails.push(given[1] as number);
        return (value as (...given: unknown[]) => unknown).apply(target, given);
      };
    },
  });
  return { counted, tails };
}

function describeRepetitions(name: string, withStore: (use: (store: EventStore) => Promise<void>) => Promise<void>) {
  describe(`a command of a reaction that is run again, on ${name}`, () => {
    const types = async (store: EventStore) => (await store.readStream(stream)).map(({ type }) => type);
    const others = async (store: EventStore, changes: number) => {
      const executor = newExecutor(store);
      for (let change = 0; change < changes; change += 1)
        orThrow(await executor.execute(change % 2 === 0 ? turnOff : turnOn, null, by));
    };

    it('appends once, whatever was appended in between', () =>
      withStore(async (store) => {
        const execution = {
          ...by,
          commandId: randomUUID(),
          repetition: { mayHaveRun: () => true, behind: await store.head() },
        };
        expect(orThrow(await newExecutor(store).execute(turnOn, null, execution)).position).toBeDefined();
        await others(store, 301);
        const again = orThrow(await newExecutor(store).execute(turnOn, null, execution));
        expect(again).toMatchObject({ position: undefined, events: [] });
        expect(await types(store)).toHaveLength(302);
        expect((await types(store)).at(-1)).toBe('TurnedOff');
      }));

    for (const method of ['readStream', 'append'] as const) {
      it(`appends once if its process is frozen before ${method}, and the stream moves on meanwhile`, () =>
        withStore(async (store) => {
          let isOverdue = false;
          const behind = await store.head();
          const commandId = randomUUID();
          const { paused, reached, go } = pausing(store, method);
          const frozen = newExecutor(paused).execute(turnOn, null, {
            ...by,
            commandId,
            repetition: { mayHaveRun: () => isOverdue, behind },
          });
          await reached;
          // The stream is no longer as the frozen process has seen it when its successor runs the command.
          orThrow(await newExecutor(store).execute(turnOn, null, by));
          orThrow(await newExecutor(store).execute(turnOff, null, by));
          const repetition = { mayHaveRun: () => true, behind };
          orThrow(await newExecutor(store).execute(turnOn, null, { ...by, commandId, repetition }));
          await others(store, 3);
          isOverdue = true;
          go();
          expect(orThrow(await frozen).position).toBeUndefined();
          const stored = await store.readStream(stream);
          expect(stored.filter(({ metadata }) => metadata.commandId === commandId)).toHaveLength(1);
          expect(stored).toHaveLength(6);
        }));
    }

    it('looks for its earlier run only where there may be one', () =>
      withStore(async (store) => {
        const { counted, tails } = counting(store);
        const run = async (mayHaveRun: boolean, behind: bigint) => {
          tails.length = 0;
          const repetition = { mayHaveRun: () => mayHaveRun, behind };
          orThrow(await newExecutor(counted).execute(turnOn, null, { ...by, commandId: randomUUID(), repetition }));
          return tails.length;
        };
        expect(await run(true, await store.head()), 'an empty stream').toBe(0);
        await others(store, 299);
        expect(await run(false, 0n), 'a first run').toBe(0);
        await others(store, 1);
        expect(await run(true, await store.head()), 'the events behind its cause').toBe(1);
      }));
  });
}

describeRepetitions('PostgreSQL', async (use) => {
  const application = await openProjectorApplication([switchEvents]);
  await use(application.store).finally(() => application.close());
});
{
  const { startNode, openStore } = withNode();
  describeRepetitions('EventStoreDB', async (use) => use(openStore(await startNode())));
}
