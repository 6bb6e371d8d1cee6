import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { EventCodec } from '../../../src/platform/eventstore/codec.ts';
import type { EventStore } from '../../../src/platform/eventstore/port.ts';
import { AggregateLoader } from '../../../src/platform/execution/aggregate-loader.ts';
import { Executor } from '../../../src/platform/execution/executor.ts';
import { FreshValues } from '../../../src/platform/execution/fresh-values.ts';
import { defineAggregate, streamName } from '../../../src/platform/kernel/aggregate.ts';
import { acceptWith, defineCommand } from '../../../src/platform/kernel/command.ts';
import { defineEvents, type EventOf } from '../../../src/platform/kernel/event.ts';
import { conflict, orThrow } from '../../../src/platform/kernel/failure.ts';
import { withNode } from '../../fixtures/eventstoredb/with-node.ts';
import { MemoryPersonKeys, openProjectorApplication } from '../projector/projector-application.ts';
import { TENANTS } from '../projector/ledger.ts';

const counterEvents = defineEvents('counter', {
  Counted: { version: 1, schema: z.object({ value: z.int() }), audit: false },
});
const counter = defineAggregate(counterEvents, { value: 0 }, (_state, event: EventOf<typeof counterEvents>) => ({
  value: event.data.value,
}));
const stream = (name: string) => streamName('counter', TENANTS[0]!, name);

/** Succeeds on every run, which a retry must not do. */
const count = defineCommand({
  name: 'Count',
  aggregate: counter,
  stream: (name: string) => stream(name),
  decide: ({ value }) =>
    acceptWith(
      { from: value, to: value + 2 },
      [1, 2].map((step) => ({ type: 'Counted' as const, data: { value: value + step } })),
    ),
});
const prepared = defineCommand({
  ...count,
  name: 'CountPrepared',
  prepare: async (_name: string, ports: { prepared: () => number }) => ports.prepared(),
  recall: ({ value }) => ({ from: value, to: value + 2 }),
});
const once = defineCommand({
  ...count,
  name: 'CountOnce',
  decide: ({ value }) =>
    value > 0 ? conflict() : acceptWith({ from: 0, to: 1 }, [{ type: 'Counted' as const, data: { value: 1 } }]),
});

const digest = (value: string) => createHash('sha256').update(value).digest('hex');
const codec = new EventCodec([counterEvents], new MemoryPersonKeys());
const issuer = () => ({
  tenantId: TENANTS[0]!,
  actor: { kind: 'system' as const, id: 'test' },
  commandId: randomUUID(),
  isRetryable: true,
});

let preparations = 0;
/** A separate process: it has seen nothing of the others. */
const newExecutor = (store: EventStore) =>
  new Executor<{ prepared: () => number }>(store, codec, new AggregateLoader(store, codec), digest, () => ({
    ports: { prepared: () => (preparations += 1) },
    compensate: async () => {},
  }));

function describeRetries(name: string, withStore: (use: (store: EventStore) => Promise<void>) => Promise<void>) {
  describe(`a retryable command on ${name}`, () => {
    it('returns the outcome of its earlier run, whatever happened in between', () =>
      withStore(async (store) => {
        const [mine, other] = [issuer(), issuer()];
        const first = orThrow(await newExecutor(store).execute(count, 'a', mine));
        orThrow(await newExecutor(store).execute(count, 'a', other));
        const again = orThrow(await newExecutor(store).execute(count, 'a', mine));
        expect(again).toMatchObject({ result: { from: 0, to: 2 }, position: first.position, revision: first.revision });
        const [, last] = await store.readStream(stream('a'));
        for (const { recordedAt } of [first, again as typeof first]) expect(await recordedAt()).toBe(last!.recordedAt);
        expect(again.events.map(({ data }) => data)).toEqual([{ value: 1 }, { value: 2 }]);
        expect(orThrow(await newExecutor(store).execute(count, 'a', other)).result).toEqual({ from: 2, to: 4 });
        expect(await store.readStream(stream('a'))).toHaveLength(4);
      }));

    it('prepares nothing for an earlier run, and reads the result from its events', () =>
      withStore(async (store) => {
        const mine = issuer();
        orThrow(await newExecutor(store).execute(prepared, 'a', mine));
        const before = preparations;
        expect(orThrow(await newExecutor(store).execute(prepared, 'a', mine)).result).toEqual({ from: 0, to: 2 });
        expect(preparations).toBe(before);
      }));

    it("is refused because of another command's events", () =>
      withStore(async (store) => {
        orThrow(await newExecutor(store).execute(once, 'a', issuer()));
        expect(await newExecutor(store).execute(once, 'a', issuer())).toMatchObject({ kind: 'conflict' });
      }));

    it('appends once when two attempts run at the same time', () =>
      withStore(async (store) => {
        const mine = issuer();
        const outcomes = await Promise.all(
          Array.from({ length: 4 }, () => newExecutor(store).execute(count, 'a', mine)),
        );
        expect(outcomes.map((outcome) => orThrow(outcome).result)).toEqual(Array(4).fill({ from: 0, to: 2 }));
        expect(await store.readStream(stream('a'))).toHaveLength(2);
      }));

    it('appends nothing when it resumes after an attempt that replaced it', () =>
      withStore(async (store) => {
        const mine = issuer();
        let wake = () => {};
        const asleep = new Promise<void>((resolve) => (wake = resolve));
        let sleeps = () => {};
        const fellAsleep = new Promise<void>((resolve) => (sleeps = resolve));
        // The process is paused with the decision made, just before the append.
        const frozen = new Proxy(store, {
          get(target, key) {
            const value = Reflect.get(target, key) as unknown;
            if (key === 'append')
              return async (append: Parameters<EventStore['append']>[0]) => (
                sleeps(),
                await asleep,
                target.append(append)
              );
            return typeof value === 'function' ? (value.bind(target) as unknown) : value;
          },
        });
        const first = newExecutor(frozen).execute(count, 'a', mine);
        await fellAsleep;
        orThrow(await newExecutor(store).execute(count, 'a', mine));
        orThrow(await newExecutor(store).execute(count, 'a', issuer()));
        wake();
        expect(orThrow(await first).result).toEqual({ from: 0, to: 2 });
        expect(await store.readStream(stream('a'))).toHaveLength(4);
      }));

    it('finds its events far behind the newest of a long stream', () =>
      withStore(async (store) => {
        const mine = issuer();
        const executor = newExecutor(store);
        orThrow(await executor.execute(count, 'a', mine));
        for (let others = 0; others < 150; others += 1)
          orThrow(await executor.execute(count, 'a', { ...issuer(), isRetryable: false }));
        expect(orThrow(await newExecutor(store).execute(count, 'a', mine)).result).toEqual({ from: 0, to: 2 });
      }));
  });
}

describeRetries('PostgreSQL', async (use) => {
  const application = await openProjectorApplication([counterEvents]);
  await use(application.store).finally(() => application.close());
});
{
  const { startNode, openStore } = withNode();
  describeRetries('EventStoreDB', async (use) => use(openStore(await startNode())));
}

describe('fresh values', () => {
  const seed = Buffer.alloc(32, 7);

  it('are equal for the same seed and name, and differ otherwise', () => {
    const draw = (values: FreshValues) => [values.id('a'), values.bytes('a', 40).toString('hex')];
    const numbers = (values: FreshValues, name: string) => {
      const pick = values.integers(name);
      return Array.from({ length: 20 }, () => pick(1_000));
    };
    expect(draw(new FreshValues(seed))).toEqual(draw(new FreshValues(seed)));
    expect(numbers(new FreshValues(seed), 'a')).toEqual(numbers(new FreshValues(seed), 'a'));
    expect(numbers(new FreshValues(seed), 'a')).not.toEqual(numbers(new FreshValues(seed), 'b'));
    expect(new FreshValues(seed).id('a')).not.toBe(new FreshValues(seed).id('b'));
    expect(new FreshValues(seed).bytes('a', 32)).not.toEqual(new FreshValues(Buffer.alloc(32, 8)).bytes('a', 32));
    expect(new FreshValues().id('a')).not.toBe(new FreshValues().id('a'));
  });

  it('take every integer below the limit equally often', () => {
    const pick = new FreshValues(seed).integers('dice');
    const counts = Array(6).fill(0) as number[];
    for (let throws = 0; throws < 6_000; throws += 1) counts[pick(6)]! += 1;
    for (const seen of counts) expect(seen).toBeGreaterThan(850);
  });
});
