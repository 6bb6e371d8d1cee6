import { setImmediate as nextTick } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { HashingLimiter, TooManyWaiting } from '../../../src/contexts/identity/hashing-limiter.ts';

/** Computations that end on request. */
class Storm {
  readonly begun: number[] = [];
  /** The results in the order in which they were delivered; a failure as its message. */
  readonly told: (number | string)[] = [];
  readonly #limiter = new HashingLimiter({ atOnce: 2, waiting: 6, waitingPerTenant: 3 });
  readonly #ends: ((error?: Error) => void)[] = [];
  #asked = 0;

  async ask(count: number): Promise<void> {
    for (let n = 0; n < count; n += 1) {
      const number = this.#asked++;
      const work = () => {
        this.begun.push(number);
        return new Promise<number>(
          (resolve, reject) => (this.#ends[number] = (error) => (error ? reject(error) : resolve(number))),
        );
      };
      this.#limiter.run(work).then(
        (answer) => this.told.push(answer),
        (error: Error) => this.told.push(error instanceof TooManyWaiting ? 'too many' : error.message),
      );
    }
    await nextTick();
  }

  async end(number: number, error?: Error): Promise<void> {
    this.#ends[number]!(error);
    await nextTick();
  }
}

afterEach(() => vi.useRealTimers());

describe('a limiter of slow computations', () => {
  it('runs no more of them at once than there are slots, and the longest waiting next', async () => {
    const storm = new Storm();
    await storm.ask(4);
    expect(storm.begun).toEqual([0, 1]);
    await storm.end(1);
    expect(storm.begun).toEqual([0, 1, 2]);
    await storm.end(2);
    await storm.ask(1);
    expect(storm.begun).toEqual([0, 1, 2, 3]);
  });

  it('refuses at once what would wait behind too many', async () => {
    const storm = new Storm();
    await storm.ask(9);
    expect(storm.told).toEqual(['too many']);
  });

  it('serves tenants in rotation, and addresses of one tenant, and lets none of them fill the queue', async () => {
    const limiter = new HashingLimiter({ atOnce: 1, waiting: 6, waitingPerTenant: 3 });
    const begun: string[] = [];
    let end!: () => void;
    const first = limiter.run(() => new Promise<void>((resolve) => (end = resolve)));
    const ask = (tenantId: string, address: string) => {
      const place = limiter.reserve({ tenantId, address });
      return limiter.run(async () => void begun.push(`${tenantId}${address}`), place);
    };
    const asked = [ask('a', '1'), ask('a', '1'), ask('a', '2')];
    expect(() => limiter.reserve({ tenantId: 'a', address: '3' })).toThrow(TooManyWaiting);
    asked.push(ask('b', '1'));
    await nextTick();
    end();
    await Promise.all([first, ...asked]);
    expect(begun).toEqual(['a1', 'b1', 'a2', 'a1']);
  });

  describe('while secrets are guessed at a tenant', () => {
    const [ofA, ofB] = [
      { tenantId: 'a', address: '1' },
      { tenantId: 'b', address: '2' },
    ];
    const LIMITS = { atOnce: 3, waiting: 99, waitingPerTenant: 50 };
    const checks = (limiter: HashingLimiter, source: typeof ofA, results: readonly boolean[]) =>
      Promise.all(results.map((isRight) => limiter.check(async () => isRight, limiter.reserve(source))));
    /** Begins checks that do not end by themselves. Returns how many have begun, and ends one. */
    const begun = (limiter: HashingLimiter) => {
      const ends: (() => void)[] = [];
      const ask = (source: typeof ofA) =>
        void limiter.check(
          () => new Promise<boolean>((resolve) => ends.push(() => resolve(false))),
          limiter.reserve(source),
        );
      return { ask, ends };
    };

    it('gives it a single slot, and the others to everybody else', async () => {
      const limiter = new HashingLimiter(LIMITS);
      await checks(limiter, ofA, Array<boolean>(8).fill(false));
      const { ask, ends } = begun(limiter);
      for (let n = 0; n < 5; n += 1) ask(ofA);
      await nextTick();
      expect(ends.length).toBe(1);
      ask(ofB);
      ask(ofB);
      await nextTick();
      expect(ends.length).toBe(3);
      ends[0]!();
      await nextTick();
      expect(ends.length).toBe(4);
    });

    it('gives all of them back to people who sign in, and takes none away for what people mistype', async () => {
      const limiter = new HashingLimiter(LIMITS);
      const mistyped = Array.from({ length: 60 }, (_, n) => n % 3 === 0);
      for (const isRight of mistyped) await checks(limiter, ofB, [isRight]);
      await checks(limiter, ofA, Array<boolean>(40).fill(false));
      for (let n = 0; n < 3; n += 1) await checks(limiter, ofA, [true]);
      for (const source of [ofA, ofB]) {
        const { ask, ends } = begun(limiter);
        for (let n = 0; n < 3; n += 1) ask(source);
        await nextTick();
        expect([source.tenantId, ends.length]).toEqual([source.tenantId, 3]);
        for (const end of ends) end();
        await nextTick();
      }
    });
  });

  it('does not hold back the result of a tenant of which nothing else waits', async () => {
    const limiter = new HashingLimiter({ atOnce: 2, waiting: 9, waitingPerTenant: 9 });
    const ends = new Map<string, () => void>();
    const ask = (tenantId: string, name: string) =>
      limiter.run(
        () => new Promise<string>((resolve) => ends.set(name, () => resolve(name))),
        limiter.reserve({ tenantId, address: '1' }),
      );
    const crowd = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => ask('a', name));
    const told: string[] = [];
    void ask('b', 'b1').then((name) => told.push(name));
    const end = async (name: string) => {
      await nextTick();
      ends.get(name)!();
      await nextTick();
    };
    for (const name of ['a1', 'a2', 'b1']) await end(name);
    expect(told).toEqual(['b1']);
    for (const name of ['a3', 'a4', 'a5']) await end(name);
    await Promise.all(crowd);
  });

  it('delivers a result at once if nothing waits', async () => {
    const storm = new Storm();
    await storm.ask(2);
    await storm.end(1);
    expect(storm.told).toEqual([1]);
  });

  it('delivers results four at a time while others wait, and the rest with the first that has none behind it', async () => {
    const storm = new Storm();
    await storm.ask(8);
    for (const number of [0, 1, 2]) await storm.end(number);
    expect(storm.told).toEqual([]);
    await storm.end(3);
    expect(storm.told).toEqual([0, 1, 2, 3]);
    await storm.end(4);
    expect(storm.told).toHaveLength(4);
    await storm.end(5);
    expect(storm.told).toEqual([0, 1, 2, 3, 4, 5]);
    await storm.end(7);
    expect(storm.told).toHaveLength(7);
  });

  it('delivers a result that has waited long enough for its group', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const storm = new Storm();
    await storm.ask(6);
    await storm.end(0);
    vi.advanceTimersByTime(39);
    await nextTick();
    expect(storm.told).toEqual([]);
    vi.advanceTimersByTime(1);
    await nextTick();
    expect(storm.told).toEqual([0]);
    // The next one starts another wait.
    await storm.end(1);
    vi.advanceTimersByTime(39);
    await nextTick();
    expect(storm.told).toEqual([0]);
  });

  it('passes on the slot of a failed computation, and its failure', async () => {
    const storm = new Storm();
    await storm.ask(3);
    await storm.end(0, new Error('no memory'));
    expect(storm.begun).toEqual([0, 1, 2]);
    expect(storm.told).toEqual(['no memory']);
  });
});
