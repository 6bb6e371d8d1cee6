import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { EventCodec } from '../../../src/platform/eventstore/codec.ts';
import type { EventStore } from '../../../src/platform/eventstore/port.ts';
import { AggregateLoader } from '../../../src/platform/execution/aggregate-loader.ts';
import { Executor } from '../../../src/platform/execution/executor.ts';
import { defineAggregate, streamName } from '../../../src/platform/kernel/aggregate.ts';
import { accept, defineCommand } from '../../../src/platform/kernel/command.ts';
import { defineEvents } from '../../../src/platform/kernel/event.ts';
import { isFailure } from '../../../src/platform/kernel/failure.ts';
import { MemoryPersonKeys, openProjectorApplication } from '../projector/projector-application.ts';
import { TENANTS } from '../projector/ledger.ts';

const bellEvents = defineEvents('bell', { BellRung: { version: 1, schema: z.object({}), audit: false } });
const bell = defineAggregate(bellEvents, {}, (state) => state);
const stream = streamName('bell', TENANTS[0]!, 'bell');
const ring = defineCommand({
  name: 'Ring',
  aggregate: bell,
  stream: () => stream,
  decide: () => accept([{ type: 'BellRung' as const, data: {} }]),
});
const by = { tenantId: TENANTS[0]!, actor: { kind: 'system' as const, id: 'test' } };
const SOON_MS = 200;

describe('a command whose caller gives up while a read stands still', () => {
  const codec = new EventCodec([bellEvents], new MemoryPersonKeys());
  let application: Awaited<ReturnType<typeof openProjectorApplication>>;
  let undone = 0;
  /** A new executor each time: nothing is remembered, so the stream is read. */
  const executorOn = (store: EventStore) =>
    new Executor<unknown>(
      store,
      codec,
      new AggregateLoader(store, codec),
      (value) => createHash('sha256').update(value).digest('hex'),
      () => ({ ports: {}, compensate: async () => void (undone += 1) }),
    );
  beforeAll(async () => {
    application = await openProjectorApplication([bellEvents]);
  });
  afterAll(() => application.close());

  const slow = () =>
    new Proxy(application.store, {
      get(target, key) {
        const value = Reflect.get(target, key) as unknown;
        if (typeof value !== 'function') return value;
        return async (...given: unknown[]) => {
          if (key === 'readStream') await new Promise((resolve) => setTimeout(resolve, 2 * SOON_MS));
          return (value as (...given: unknown[]) => unknown).apply(target, given);
        };
      },
    });

  it('appends nothing once the read is there, and undoes what it prepared', async () => {
    const until = performance.now() + SOON_MS;
    const outcome = await executorOn(slow()).execute(ring, null, { ...by, until });
    expect(outcome).toMatchObject({ kind: 'unavailable' });
    expect(undone).toBe(1);
    expect(await application.store.readStream(stream)).toEqual([]);
  });

  it('appends if the caller is still there', async () => {
    const until = performance.now() + 60_000;
    const outcome = await executorOn(slow()).execute(ring, null, { ...by, until });
    expect(isFailure(outcome)).toBe(false);
    expect(await application.store.readStream(stream)).toHaveLength(1);
  });
});
