import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AggregateReader } from '../../../src/platform/kernel/aggregate.ts';
import type { TenantId } from '../../../src/platform/kernel/ids.ts';
import { CACHE_MODEL, InvalidatingCache } from '../../../src/platform/projector/invalidating-cache.ts';
import { LogTrust } from '../../../src/platform/eventstore/log-trust.ts';
import type { Position } from '../../../src/platform/kernel/event.ts';
import type { CatchUpSubscription } from '../../../src/platform/projector/catch-up-subscription.ts';
import { Freshness } from '../../../src/platform/projector/freshness.ts';
import type { LogSlice } from '../../../src/platform/projector/log-window.ts';
import { eventually, log, openProjectorApplication, type ProjectorApplication } from './projector-application.ts';
import { ledgerEvents, TENANTS } from './ledger.ts';

const OWNER = 'bbbbbbbb-0000-4000-8000-000000000001';
const opened = (entry: string) => ({ type: 'EntryOpened', data: { entry, owner: OWNER, amount: 1 } });
const changed = (entry: string) => ({ type: 'EntryChanged', data: { entry, amount: 1, note: null } });
const [TENANT, OTHER] = [TENANTS[0]!, TENANTS[1]!];
const ANY = { category: 'ledger', initial: '', fold: () => '' };

describe('cached look-ups', () => {
  let application: ProjectorApplication;
  let cache: InvalidatingCache;
  /** Pending reads by stream; the test decides when each of them ends, and with what result. */
  let reads: { stream: string; end: (value: string) => void }[];
  const aggregates = {
    load: (_aggregate: unknown, stream: string) => new Promise<unknown>((end) => reads.push({ stream, end })),
  } as unknown as AggregateReader;

  beforeEach(async () => {
    reads = [];
    application = await openProjectorApplication([ledgerEvents]);
    cache = new InvalidatingCache({
      subscription: application.subscription,
      freshness: application.freshness,
      aggregates,
      log,
    });
    cache.start();
  });
  afterEach(async () => {
    await cache.stop();
    await application.close();
  });

  const read = async (stream: string, value: string) => {
    await eventually(`a read of ${stream}`, () => reads.some((one) => one.stream === stream));
    reads
      .splice(
        reads.findIndex((one) => one.stream === stream),
        1,
      )[0]!
      .end(value);
  };
  /** The content of the streams, for reads that the test does not control individually. */
  const answerAll = (value: string) => reads.splice(0).forEach(({ end }) => end(value));
  type Look = (tenantId: TenantId, id: string) => Promise<string>;
  /** Looks up until the value comes without a load: at first it is unknown whether the log is being followed. */
  const warm = async (look: Look, id: string, value: string, tenantId = TENANT, read = value) => {
    for (;;) {
      let loaded = false;
      let isDone = false;
      const asked = look(tenantId, id).finally(() => (isDone = true));
      await eventually('the value', () => {
        if (reads.length > 0) loaded = true;
        answerAll(read);
        return isDone;
      });
      expect(await asked).toBe(value);
      if (!loaded) return;
      await sleep(5); // The subscription needs a tick too.
    }
  };
  const followed = async (append: Promise<bigint>) =>
    expect(await application.freshness.waitFor([CACHE_MODEL], await append, 25_000)).toBe(true);
  /** A look-up of one stream, which its id names. */
  const oneStream = () =>
    cache.cached(({ aggregates: from }, tenantId, id) => from.load(ANY, `ledger-${tenantId}.${id}`));
  const stream = (id: string, tenantId = TENANT) => `ledger-${tenantId}.${id}`;

  it('are invalidated by any event of a stream that the load read, and by nothing else', async () => {
    const look = oneStream();
    await warm(look, 'a', 'a1');
    await warm(look, 'b', 'b1');
    await warm(look, 'a', 'other', OTHER);
    for (const event of [changed('z'), opened('z'), { type: 'OwnerForgotten', data: { owner: OWNER } }]) {
      await followed(application.happen(stream('a'), [event]));
      const again = look(TENANT, 'a');
      await read(stream('a'), event.type);
      expect(await again).toBe(event.type);
    }
    expect([await look(TENANT, 'b'), await look(OTHER, 'a'), reads.length]).toEqual(['b1', 'other', 0]);
  });

  it('are invalidated by events of every stream of a load that read several', async () => {
    const look = cache.cached<string>(async ({ aggregates: from }, tenantId, id) => {
      const next = await from.load(ANY, stream(id, tenantId));
      return `${next}+${await from.load(ANY, stream(next, tenantId))}`;
    });
    await warm(look, 'x', 'second+second', TENANT, 'second');
    for (const concerned of ['x', 'second']) {
      await followed(application.happen(stream(concerned), [changed('x')]));
      const again = look(TENANT, 'x');
      await read(stream('x'), 'second');
      await read(stream('second'), concerned);
      expect(await again).toBe(`second+${concerned}`);
    }
  });

  it('are not cached when an event overtakes a pending read', async () => {
    const look = oneStream();
    await warm(look, 'b', 'b1');
    const overtaken = look(TENANT, 'a');
    await eventually('the read is under way', () => reads.length === 1);
    await followed(application.happen(stream('a'), [changed('a')]));
    await read(stream('a'), 'stale');
    expect(await overtaken).toBe('stale');
    const after = look(TENANT, 'a');
    await read(stream('a'), 'fresh');
    expect(await after).toBe('fresh');
  });

  it('are cached when an event comes before their stream is read, or to another stream', async () => {
    let mayRead = () => {};
    const look = cache.cached<string>(async ({ aggregates: from }, tenantId, id) => {
      await from.load(ANY, stream('before', tenantId));
      await new Promise<void>((resolve) => (mayRead = resolve));
      return from.load(ANY, stream(id, tenantId));
    });
    await warm(oneStream(), 'b', 'b1');
    const asked = look(TENANT, 'a');
    await read(stream('before'), '');
    await followed(application.happen(stream('a'), [changed('a')]));
    await followed(application.happen(stream('elsewhere'), [changed('a')]));
    mayRead();
    await read(stream('a'), 'current');
    expect([await asked, await look(TENANT, 'a'), reads.length]).toEqual(['current', 'current', 0]);
  });

  it('are invalidated by an event that cannot be read', async () => {
    const look = oneStream();
    await warm(look, 'a', 'a1');
    const verdict = await application.store.append({
      tenantId: TENANT,
      stream: stream('a'),
      expectedRevision: -1n,
      events: [
        {
          id: crypto.randomUUID(),
          type: 'EntryChanged',
          version: 1,
          data: '{"entry":7}',
          metadata: { actor: { kind: 'system', id: 'x' }, correlationId: 'c', causationId: 'c', commandId: 'c' },
        },
      ],
      claim: [],
      release: [],
    });
    await followed(Promise.resolve(verdict.kind === 'appended' ? verdict.position : -1n));
    const again = look(TENANT, 'a');
    await read(stream('a'), 'a2');
    expect(await again).toBe('a2');
  });

  it('are not cached when the load read nothing through its sources', async () => {
    let loads = 0;
    await warm(oneStream(), 'b', 'b1');
    const look = cache.cached(async () => `loaded ${(loads += 1)}`);
    expect([await look(TENANT, 'a'), await look(TENANT, 'a')]).toEqual(['loaded 1', 'loaded 2']);
  });

  describe('of tables', () => {
    const openings = { name: 'openings', on: { EntryOpened: () => [] }, scope: undefined };
    let loads: number;
    beforeEach(() => (loads = 0));
    const ofTable = () =>
      cache.cached(async (from) => {
        await from.tables([openings]);
        return `load ${(loads += 1)}`;
      });
    const isCached = async (look: Look, tenantId = TENANT) => {
      const before = loads;
      await look(tenantId, 'a');
      return loads === before;
    };

    it("are invalidated by every event of the tenant that the table's read model folds, and by no other", async () => {
      application.freshness.passed(['openings'], 1n << 60n);
      const look = ofTable();
      for (const tenantId of [TENANT, OTHER]) await eventually('a cached value', () => isCached(look, tenantId));
      await followed(application.happen(stream('any'), [changed('a')]));
      expect([await isCached(look), await isCached(look, OTHER)]).toEqual([true, true]);
      await followed(application.happen(stream('any'), [opened('a')]));
      expect([await isCached(look), await isCached(look, OTHER)]).toEqual([false, true]);
    });

    it('are not cached while the table lags behind the log', async () => {
      await warm(oneStream(), 'b', 'b1');
      await followed(application.happen(stream('any'), [opened('a')]));
      const look = ofTable();
      expect([await isCached(look), await isCached(look)]).toEqual([false, false]);
      application.freshness.passed(['openings'], 1n << 60n);
      await eventually('a cached value', () => isCached(look));
    });

    it('cannot use a table that holds rows of all tenants', async () => {
      const look = cache.cached((from) => from.tables([{ ...openings, scope: 'installation' }]).then(() => 'a'));
      await expect(look(TENANT, 'a')).rejects.toThrow(TypeError);
    });
  });

  it('notify every listener of an event type', async () => {
    const heard: string[] = [];
    cache.onEvent(ledgerEvents, 'EntryChanged', ({ data }) => heard.push(`first ${data.entry}`));
    cache.onEvent(ledgerEvents, 'EntryChanged', ({ data }) => heard.push(`second ${data.entry}`));
    await followed(application.happen(stream('a'), [changed('a')]));
    expect(heard).toEqual(['first a', 'second a']);
  });
});

describe('a cache of a log that was in doubt', () => {
  const inDoubt = () => {
    const trust = new LogTrust();
    const freshness = new Freshness();
    /** Pending reads of the log; the test decides when each of them ends, and with what result. */
    const reads: { after: Position; end: (slice: LogSlice) => void }[] = [];
    let endLast = () => {};
    const subscription = {
      head: 10n,
      read: (after: Position) =>
        new Promise<LogSlice>((end) => {
          reads.push({ after, end });
          endLast = () => end({ events: [], position: after });
        }),
      decode: async () => [],
      wait: () => sleep(1),
    } as unknown as CatchUpSubscription;
    let loads = 0;
    const aggregates = { load: async () => `load ${(loads += 1)}` } as unknown as AggregateReader;
    const cache = new InvalidatingCache({ subscription, freshness, aggregates, log, trust });
    trust.onDoubt(() => {
      cache.forget();
      freshness.forget();
    });
    const look = cache.cached(({ aggregates: from }, tenantId, id) => from.load(ANY, `ledger-${tenantId}.${id}`));
    const nextRead = async () => {
      await eventually('a read of the log', () => reads.length > 0);
      return reads.shift()!;
    };
    const stop = async () => {
      const stopped = cache.stop();
      endLast();
      await stopped;
    };
    return { trust, freshness, cache, look, reads, nextRead, stop };
  };

  it('goes on where it was before, not where another log ends, and keeps nothing until then', async () => {
    const { trust, freshness, cache, look, nextRead, stop } = inDoubt();
    cache.start();
    (await nextRead()).end({ events: [], position: 10n });
    const ofTheOther = await nextRead();
    trust.suspect('a connection was lost');
    ofTheOther.end({ events: [], position: 90n });
    trust.confirmed(trust.epoch);
    const ofTheKnown = await nextRead();
    expect([ofTheKnown.after, freshness.positionOf(CACHE_MODEL)]).toEqual([10n, undefined]);
    expect([await look(TENANT, 'a'), await look(TENANT, 'a')]).toEqual(['load 1', 'load 2']);
    ofTheKnown.end({ events: [], position: 10n });
    await nextRead();
    expect([await look(TENANT, 'a'), await look(TENANT, 'a')]).toEqual(['load 3', 'load 3']);
    await stop();
  });

  it('does not take the end of another log for its own, although nothing follows there', async () => {
    const { trust, freshness, cache, look, nextRead, stop } = inDoubt();
    cache.start();
    const ofTheOther = await nextRead();
    trust.suspect('a connection was lost');
    ofTheOther.end({ events: [], position: 10n });
    trust.confirmed(trust.epoch);
    const ofTheKnown = await nextRead();
    expect(freshness.positionOf(CACHE_MODEL)).toBeUndefined();
    expect([await look(TENANT, 'a'), await look(TENANT, 'a')]).toEqual(['load 1', 'load 2']);
    ofTheKnown.end({ events: [], position: 10n });
    await stop();
  });

  it('does not follow a log that contradicts what is known', async () => {
    const { trust, cache, reads, nextRead, stop } = inDoubt();
    trust.contradicted('log_older', 'it ends at 3');
    cache.start();
    await sleep(5);
    expect(reads).toEqual([]);
    trust.suspect('it was in doubt');
    trust.confirmed(trust.epoch);
    expect((await nextRead()).after).toBe(10n);
    await stop();
  });
});
