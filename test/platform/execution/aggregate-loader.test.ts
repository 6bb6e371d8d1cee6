import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AggregateLoader } from '../../../src/platform/execution/aggregate-loader.ts';
import { defineAggregate, streamName } from '../../../src/platform/kernel/aggregate.ts';
import { defineEvents } from '../../../src/platform/kernel/event.ts';
import { openProjectorApplication, type ProjectorApplication } from '../projector/projector-application.ts';
import { TENANTS } from '../projector/ledger.ts';

const bellEvents = defineEvents('bell', { BellRung: { version: 1, schema: z.object({}), audit: false } });
const rings = defineAggregate(bellEvents, 0, (count: number) => count + 1);
const doubled = defineAggregate(bellEvents, 0, (count: number) => count + 2);
const RUNG = { type: 'BellRung', data: {} };

describe('concurrent loads', () => {
  let application: ProjectorApplication;
  beforeAll(async () => {
    application = await openProjectorApplication([bellEvents]);
  });
  afterAll(() => application.close());
  const newStream = () => streamName('bell', TENANTS[0]!, randomUUID());

  /** A loader, and the streams that it reads from the store. A read returns once `arrival` has resolved. */
  const newLoader = (arrival: () => Promise<void> = () => Promise.resolve()) => {
    const looks: string[] = [];
    const store = new Proxy(application.store, {
      get: (target, key) => {
        const value = Reflect.get(target, key) as unknown;
        if (typeof value !== 'function') return value;
        const call = (...given: unknown[]) => (value as (...given: unknown[]) => unknown).apply(target, given);
        if (key !== 'readStream' && key !== 'readStreams' && key !== 'readStreamTail') return call;
        return async (stream: string, ...given: unknown[]) => {
          looks.push(stream);
          const found = await call(stream, ...given);
          await arrival();
          return found;
        };
      },
    });
    return { loader: new AggregateLoader(store, application.codec), looks };
  };

  it('share one read of the store', async () => {
    const { loader, looks } = newLoader();
    const [stream, other] = [newStream(), newStream()];
    await application.happen(stream, [RUNG, RUNG]);
    const loads = [
      loader.load(rings, stream),
      loader.load(rings, stream),
      loader.load(rings, other),
      loader.loadWithRevision(rings, stream),
    ];
    expect(await Promise.all(loads)).toMatchObject([2, 2, 0, { state: 2, revision: 1n }]);
    expect(looks).toEqual([stream, other]);
  });

  it('of two kinds of state of one stream are separate', async () => {
    const { loader } = newLoader();
    const stream = newStream();
    await application.happen(stream, [RUNG]);
    expect(await Promise.all([loader.load(rings, stream), loader.load(doubled, stream)])).toEqual([1, 2]);
  });

  it('that start during a read see the events since it was sent', async () => {
    let arrive = () => {};
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    const { loader } = newLoader(() => arrived);
    const stream = newStream();
    const early = loader.load(rings, stream);
    await nextTurn();
    await nextTurn();
    await application.happen(stream, [RUNG]);
    const late = loader.load(rings, stream);
    await nextTurn();
    arrive();
    await early;
    expect(await late).toBe(1);
  });

  it('fail together, and the next one tries again', async () => {
    let broken = true;
    const { loader } = newLoader(() => (broken ? Promise.reject(new Error('no connection')) : Promise.resolve()));
    const stream = newStream();
    const answers = await Promise.allSettled([loader.load(rings, stream), loader.load(rings, stream)]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    broken = false;
    expect(await loader.load(rings, stream)).toBe(0);
  });

  describe('across a doubt about the log', () => {
    /** A loader whose first read returns only when the test says so; by then all caches have been dropped. */
    const held = () => {
      let arrive = () => {};
      let isFirst = true;
      const arrived = new Promise<void>((resolve) => (arrive = resolve));
      const { loader, looks } = newLoader(() => (isFirst ? ((isFirst = false), arrived) : Promise.resolve()));
      const asked = async () => {
        while (looks.length === 0) await nextTurn();
        loader.forget();
        arrive();
      };
      return { loader, asked };
    };

    it('do not cache what was read before it', async () => {
      const loads = [
        (loader: AggregateLoader, stream: string) => loader.load(rings, stream),
        async (loader: AggregateLoader, stream: string) => (await loader.followTail(rings, stream, 5)).state,
        async (loader: AggregateLoader, stream: string) => (await loader.loadAll(rings, [stream]))[0],
      ];
      for (const load of loads) {
        const { loader, asked } = held();
        const stream = newStream();
        await application.happen(stream, [RUNG, RUNG]);
        const loading = load(loader, stream);
        await asked();
        expect(await loading).toBe(2);
        expect(loader.cached(rings, stream)).toBeUndefined();
        expect(await load(loader, stream)).toBe(2);
        expect(loader.cached(rings, stream)).toMatchObject({ state: 2, revision: 1n });
      }
    });

    it('do not cache what an append made of a state from before it', async () => {
      const { loader } = newLoader();
      const stream = newStream();
      const event = { type: 'BellRung' as const, data: {} };
      for (const from of [loader.beginning(rings), await loader.loadWithRevision(rings, stream)]) {
        loader.forget();
        loader.advance(rings, stream, from, [event], 0n);
        expect(loader.cached(rings, stream)).toBeUndefined();
      }
      loader.advance(rings, stream, loader.beginning(rings), [event], 0n);
      expect(loader.cached(rings, stream)).toMatchObject({ state: 1, revision: 0n });
    });
  });
});
