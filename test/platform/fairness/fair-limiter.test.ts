import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FairLimiter, TooBusy } from '../../../src/platform/fairness/fair-limiter.ts';
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

  it('blames the resource, not the key, if no short work ended during a whole wait', async () => {
    const works = new Works(new FairLimiter({ ...SHARES, isShort: true }));
    for (const name of ['a1', 'a2']) void works.start('a', name);
    const still = expect(works.start('a', 'a3')).rejects.toMatchObject({ name: 'TooBusy', isOwnShare: false });
    await vi.advanceTimersByTimeAsync(1_000);
    await still;
    const busy = expect(works.start('a', 'a4')).rejects.toMatchObject({ name: 'TooBusy', isOwnShare: true });
    void works.start('b', 'b1');
    await works.end('b1');
    await vi.advanceTimersByTimeAsync(1_000);
    await busy;
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
