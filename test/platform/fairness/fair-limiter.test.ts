import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FailureError, notFound, temporarilyUnavailable } from '../../../src/platform/kernel/failure.ts';
import { FairLimiter, TooBusy } from '../../../src/platform/fairness/fair-limiter.ts';
import { DatabaseTimeout } from '../../../src/platform/database/unavailable.ts';
import { FairQueue } from '../../../src/platform/fairness/fair-queue.ts';

const SHARES = { what: 'reads', atOnce: 3, perKey: 2, waiting: 6, waitingPerKey: 4, waitMs: 1_000 };

describe('a fair limiter', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Work that ends on request. */
  class Works {
    readonly begun: string[] = [];
    readonly #ends = new Map<string, () => void>();
    readonly #limiter: FairLimiter;

    constructor(limiter: FairLimiter) {
      this.#limiter = limiter;
    }

    start(key: string, name: string): Promise<string> {
      return this.#limiter.run(key, async () => {
        this.begun.push(name);
        await new Promise<void>((end) => this.#ends.set(name, end));
        return name;
      });
    }

    async end(name: string): Promise<void> {
      this.#ends.get(name)!();
      await vi.advanceTimersByTimeAsync(0);
    }
  }

  it('keeps the rest of the resource for others, however much one key requests', async () => {
    const works = new Works(new FairLimiter(SHARES));
    for (const name of ['a1', 'a2', 'a3', 'a4']) void works.start('a', name);
    await vi.advanceTimersByTimeAsync(0);
    expect(works.begun).toEqual(['a1', 'a2']);
    void works.start('b', 'b1');
    await vi.advanceTimersByTimeAsync(0);
    expect(works.begun).toEqual(['a1', 'a2', 'b1']);
  });

  it('serves keys in rotation, not in the order of their calls', async () => {
    const works = new Works(new FairLimiter({ ...SHARES, atOnce: 1, perKey: 1 }));
    for (const [key, name] of [
      ['a', 'a1'],
      ['a', 'a2'],
      ['a', 'a3'],
      ['b', 'b1'],
      ['c', 'c1'],
      ['b', 'b2'],
    ] as const)
      void works.start(key, name);
    await vi.advanceTimersByTimeAsync(0);
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3']) await works.end(name);
    expect(works.begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  });

  it('blames the resource, not the key, if no short work ended recently', async () => {
    const works = new Works(new FairLimiter({ ...SHARES, isShort: true }));
    for (const name of ['a1', 'a2']) void works.start('a', name);
    const still = expect(works.start('a', 'a3')).rejects.toMatchObject({ name: 'TooBusy', isOwnShare: false });
    await vi.advanceTimersByTimeAsync(1_000);
    await still;
  });

  it('blames the key if its own work ends meanwhile, but slowly', async () => {
    const works = new Works(new FairLimiter({ ...SHARES, isShort: true }));
    for (const name of ['a1', 'a2', 'a3', 'a4']) void works.start('a', name);
    const busy = expect(works.start('a', 'a5')).rejects.toMatchObject({ name: 'TooBusy', isOwnShare: true });
    for (const ended of ['a1', 'a2']) {
      await vi.advanceTimersByTimeAsync(400);
      await works.end(ended);
    }
    await vi.advanceTimersByTimeAsync(200);
    await busy;
  });

  it('blames the resource if nothing of the key ended for half of the wait, although work of others did', async () => {
    const works = new Works(new FairLimiter({ ...SHARES, isShort: true }));
    for (const name of ['a1', 'a2']) void works.start('a', name);
    const stuck = expect(works.start('a', 'a3')).rejects.toMatchObject({ name: 'TooBusy', isOwnShare: false });
    for (const name of ['b1', 'b2', 'b3', 'b4']) {
      void works.start('b', name);
      await vi.advanceTimersByTimeAsync(250);
      await works.end(name);
    }
    await stuck;
  });

  it('blames the resource also if callers began to wait before silent connections were given up', async () => {
    const limiter = new FairLimiter({ ...SHARES, isShort: true });
    const works = new Works(limiter);
    const silent = () =>
      limiter.run('a', () => new Promise((_, reject) => setTimeout(() => reject(new DatabaseTimeout(1_400)), 1_400)));
    for (let n = 0; n < 2; n += 1) silent().catch(() => undefined);
    for (const name of ['b1', 'b2', 'b3', 'b4', 'b5']) {
      void works.start('b', name);
      await vi.advanceTimersByTimeAsync(250);
      await works.end(name);
    }
    // They came while it hung, and do not get their turn because two more silent connections are tried first.
    for (let n = 0; n < 2; n += 1) silent().catch(() => undefined);
    const left = expect(works.start('a', 'a5')).rejects.toMatchObject({ name: 'TooBusy', isOwnShare: false });
    for (const name of ['b6', 'b7', 'b8', 'b9']) {
      void works.start('b', name);
      await vi.advanceTimersByTimeAsync(250);
      await works.end(name);
    }
    await left;
  });

  it('blames the resource also after it moved again, as long as callers wait who came while it hung', async () => {
    const works = new Works(new FairLimiter({ ...SHARES, isShort: true }));
    for (const name of ['a1', 'a2']) void works.start('a', name);
    await vi.advanceTimersByTimeAsync(600);
    const left = expect(works.start('a', 'a3')).rejects.toMatchObject({ name: 'TooBusy', isOwnShare: false });
    void works.start('b', 'b1');
    await vi.advanceTimersByTimeAsync(700);
    await works.end('b1');
    await vi.advanceTimersByTimeAsync(300);
    await left;
  });

  it('blames the resource also at once, while the queue is full and no work ends well', async () => {
    const limiter = new FairLimiter({ ...SHARES, isShort: true, waitMs: 10_000 });
    const works = new Works(limiter);
    for (let n = 0; n < 6; n += 1) works.start('a', `a${n}`).catch(() => undefined);
    const refusal = () => works.start('a', 'one more').catch((error: unknown) => error);
    expect(await refusal()).toMatchObject({ isOwnShare: true });
    await vi.advanceTimersByTimeAsync(600);
    expect(await refusal()).toMatchObject({ isOwnShare: false });
    await works.end('a0');
    works.start('a', 'a6').catch(() => undefined);
    // The queue is what the hang left.
    expect(await refusal()).toMatchObject({ isOwnShare: false });
  });

  it('takes work that got no response for no progress, but a refusal for one', async () => {
    for (const [error, isOwnShare] of [
      [new DatabaseTimeout(5_000), false],
      [new Error('Connection terminated unexpectedly'), false],
      [new FailureError(temporarilyUnavailable()), false],
      [new FailureError(notFound()), true],
    ] as const) {
      const limiter = new FairLimiter({ ...SHARES, isShort: true, waiting: 0, waitingPerKey: 0 });
      let fail = () => {};
      const silent = () => new Promise<void>((_, reject) => (fail = () => reject(error)));
      const hanging = limiter.run('a', () => new Promise(() => {}));
      void hanging;
      const failing = limiter.run('a', silent).catch(() => undefined);
      await vi.advanceTimersByTimeAsync(400);
      fail();
      await failing;
      await vi.advanceTimersByTimeAsync(300);
      void limiter.run('a', () => new Promise(() => {}));
      expect(await limiter.run('a', async () => {}).catch((thrown: unknown) => thrown)).toMatchObject({ isOwnShare });
    }
  });

  it('refuses a key whose part of the queue is full, and leaves room for others', async () => {
    const limiter = new FairLimiter(SHARES);
    const works = new Works(limiter);
    for (let n = 0; n < 6; n += 1) void works.start('a', `a${n}`);
    await expect(works.start('a', 'a6')).rejects.toMatchObject({
      name: 'TooBusy',
      isOwnShare: true,
      retryAfterSeconds: 1,
    });
    for (let n = 0; n < 3; n += 1) void works.start('b', `b${n}`);
    await expect(works.start('c', 'c0')).rejects.toMatchObject({ name: 'TooBusy', isOwnShare: false });
    expect([limiter.running, limiter.waiting]).toEqual([3, 6]);
  });

  it('ends a wait that takes too long, and gives no slot away twice', async () => {
    const limiter = new FairLimiter({ ...SHARES, atOnce: 1, perKey: 1 });
    const works = new Works(limiter);
    const first = works.start('a', 'a1');
    const late = works.start('b', 'b1').catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await late).toBeInstanceOf(TooBusy);
    await works.end('a1');
    await first;
    expect([limiter.running, limiter.waiting, works.begun]).toEqual([0, 0, ['a1']]);
  });

  it('releases the slot when the work fails', async () => {
    const limiter = new FairLimiter({ ...SHARES, atOnce: 1 });
    await expect(limiter.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await limiter.run('a', async () => 'done')).toBe('done');
    expect(limiter.running).toBe(0);
  });
});

describe('a fair queue', () => {
  it('rotates on each level of its keys', () => {
    const queue = new FairQueue<string>();
    for (const [tenant, address, item] of [
      ['a', '1', 'a1'],
      ['a', '1', 'a1 again'],
      ['a', '2', 'a2'],
      ['b', '9', 'b9'],
    ] as const)
      queue.push([tenant, address], item);
    expect(Array.from({ length: 5 }, () => queue.shift())).toEqual(['a1', 'b9', 'a2', 'a1 again', undefined]);
    expect(queue.size).toBe(0);
  });

  it('removes an entry once', () => {
    const queue = new FairQueue<string>();
    queue.push(['a', '1'], 'x');
    expect([queue.remove(['a', '1'], 'x'), queue.remove(['a', '1'], 'x'), queue.size, queue.sizeOf('a')]).toEqual([
      true,
      false,
      0,
      0,
    ]);
  });
});
