import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  PROVISIONING_QUEUE,
  TenantScheduler,
  type EndTenantSlot,
} from '../../../src/platform/fairness/tenant-scheduler.ts';
import { TooBusy } from '../../../src/platform/fairness/fair-limiter.ts';
import type { TenantId } from '../../../src/platform/kernel/ids.ts';

const [A, B] = ['tenant a', 'tenant b'] as TenantId[] as [TenantId, TenantId];

describe('the tenant scheduler', () => {
  let probeMs = 0;
  /** Of so many probes one is fast, as beside tenants that pause. */
  let fastOf = Number.POSITIVE_INFINITY;
  let scheduler: TenantScheduler;
  beforeEach(() => {
    vi.useFakeTimers();
    [probeMs, fastOf] = [0, Number.POSITIVE_INFINITY];
    let probes = 0;
    scheduler = new TenantScheduler(() => {
      probes += 1;
      if (probeMs === 0 || probes % fastOf === 0) return Promise.resolve();
      return new Promise((resolve) => setTimeout(resolve, probeMs));
    });
  });
  afterEach(() => {
    scheduler.close();
    vi.useRealTimers();
  });

  /** Started requests by name, until they end. */
  const begun = new Map<string, EndTenantSlot>();
  afterEach(() => begun.clear());
  async function ask(tenant: TenantId, name: string, caller = name): Promise<void> {
    const turn = scheduler.enter(tenant, caller);
    if (turn instanceof Promise) void turn.then((end) => begun.set(name, end));
    else begun.set(name, turn);
    await vi.advanceTimersByTimeAsync(0);
  }
  async function end(name: string): Promise<void> {
    begun.get(name)!();
    begun.delete(name);
    await vi.advanceTimersByTimeAsync(0);
  }
  const names = () => [...begun.keys()];

  /** A keeps requests running until short ones of all tenants take long. */
  async function strained(): Promise<void> {
    await ask(B, 'b here');
    await end('b here');
    for (const name of ['early 1', 'early 2', 'early 3']) await ask(A, name);
    await vi.advanceTimersByTimeAsync(500);
    probeMs = 50;
    await vi.advanceTimersByTimeAsync(700);
    // A slot ends by itself after two seconds: these are still held when the share has become the smallest.
    for (const name of ['early 1', 'early 2', 'early 3']) await end(name);
    for (const name of ['a1', 'a2', 'a3']) await ask(A, name);
    await vi.advanceTimersByTimeAsync(1_300);
  }

  it('limits nobody while short requests are fast', async () => {
    await ask(B, 'b1');
    for (let n = 0; n < 20; n += 1) await ask(A, `a${n}`);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(names()).toHaveLength(21);
    expect(scheduler.share).toBeGreaterThanOrEqual(20);
  });

  it('limits no tenant that is alone, whatever unauthenticated clients do', async () => {
    void scheduler.enterAnonymous('somewhere', 'somebody');
    probeMs = 50;
    for (let n = 0; n < 100; n += 1) await ask(A, `a${n}`);
    await vi.advanceTimersByTimeAsync(5_000);
    for (let n = 100; n < 200; n += 1) await ask(A, `a${n}`);
    expect(names()).toHaveLength(200);
  });

  it('lets a tenant run one request at a time while short requests of all tenants take long', async () => {
    await strained();
    expect(scheduler.share).toBeLessThan(1);
    await ask(A, 'a4');
    await ask(B, 'b1');
    expect(names()).toEqual(['a1', 'a2', 'a3', 'b1']);
  });

  it('halves the share once for a short strain, and not again for what it remembers of it', async () => {
    await ask(B, 'b here');
    await end('b here');
    for (const name of ['a1', 'a2', 'a3']) await ask(A, name);
    await vi.advanceTimersByTimeAsync(500);
    probeMs = 50;
    await vi.advanceTimersByTimeAsync(350);
    probeMs = 0;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(scheduler.share).toBeGreaterThanOrEqual(16);
    expect(scheduler.share).toBeLessThan(32);
  });

  it('then makes a tenant pause after each request, and serves its callers in rotation', async () => {
    await strained();
    for (const [name, caller] of [
      ['x1', 'x'],
      ['x2', 'x'],
      ['y1', 'y'],
    ] as const)
      await ask(A, name, caller);
    for (const name of ['a1', 'a2', 'a3']) await end(name);
    expect(names()).toEqual([]);
    await vi.advanceTimersByTimeAsync(600);
    expect(names()).toEqual(['x1']);
    await end('x1');
    await vi.advanceTimersByTimeAsync(600);
    expect(names()).toEqual(['y1']);
  });

  it('removes the limit when short requests are fast again', async () => {
    await strained();
    for (const name of ['a1', 'a2', 'a3']) await end(name);
    probeMs = 0;
    for (let n = 0; n < 200; n += 1) {
      await vi.advanceTimersByTimeAsync(100);
      for (const tenant of [A, B]) void Promise.resolve(scheduler.enter(tenant, 'somebody')).then((done) => done());
    }
    expect(scheduler.share).toBeGreaterThan(30);
  });

  it('limits nobody who does not cause the wait', async () => {
    await ask(A, 'a1');
    await ask(B, 'b1');
    for (const name of ['a1', 'b1']) await end(name);
    await vi.advanceTimersByTimeAsync(500);
    probeMs = 50;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(scheduler.share).toBeGreaterThan(30);
  });

  /** A request of 50 ms, if there is room for it. */
  async function work(tenant: TenantId, caller: string): Promise<void> {
    try {
      setTimeout(await scheduler.enter(tenant, caller), 50);
    } catch (error) {
      expect(error).toBeInstanceOf(TooBusy);
    }
  }

  /** Both tenants ask for ten requests, ten times a second. */
  async function busySeconds(seconds: number): Promise<void> {
    for (let n = 0; n < seconds * 10; n += 1) {
      for (const tenant of [A, B]) for (let k = 0; k < 10; k += 1) void work(tenant, `caller ${k}`);
      await vi.advanceTimersByTimeAsync(100);
    }
  }

  it('limits tenants no longer if it does not make short requests faster, as with a slow network', async () => {
    await busySeconds(1);
    probeMs = 50;
    await busySeconds(3);
    expect(scheduler.share).toBeLessThan(1);
    await busySeconds(15);
    expect(scheduler.share).toBeGreaterThan(8);
    probeMs = 160;
    await busySeconds(6);
    expect(scheduler.share).toBeLessThan(1);
    probeMs = 1;
    await busySeconds(1);
    probeMs = 50;
    await busySeconds(1);
    expect(scheduler.share).toBeLessThan(1);
  });

  /** Whether each refusal of many requests blames the tenant. */
  const refusals = () =>
    Array.from({ length: 200 }, () => {
      try {
        void Promise.resolve(scheduler.enter(A, 'somebody')).catch(() => undefined);
        return undefined;
      } catch (error) {
        return (error as { isOwnShare: boolean }).isOwnShare;
      }
    }).filter((isOwnShare) => isOwnShare !== undefined);

  it('blames no tenant if all short requests are slow, also beside few requests', async () => {
    await strained();
    expect(new Set(refusals())).toEqual(new Set([true]));
    await busySeconds(2);
    expect(new Set(refusals())).toEqual(new Set([false]));
  });

  it('goes on limiting tenants as long as some short requests are fast', async () => {
    await busySeconds(1);
    [probeMs, fastOf] = [50, 7];
    await busySeconds(30);
    expect(scheduler.share).toBeLessThan(1);
  });

  it('limits nobody while the database does not respond', async () => {
    await strained();
    await ask(A, 'a4');
    expect(names()).toEqual(['a1', 'a2', 'a3']);
    probeMs = 60_000;
    await vi.advanceTimersByTimeAsync(1_300);
    for (let n = 5; n < 20; n += 1) await ask(A, `a${n}`);
    expect(names()).toHaveLength(19);
  });

  it('blames no tenant while the database hangs or is down', async () => {
    await strained();
    expect(refusals()).toContain(true);
    probeMs = 60_000;
    await vi.advanceTimersByTimeAsync(800);
    expect(new Set(refusals())).toEqual(new Set([false]));
  });

  it('blames no tenant for the queue that a silence of the database left', async () => {
    await strained();
    probeMs = 800;
    await vi.advanceTimersByTimeAsync(1_000);
    probeMs = 1;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(new Set(refusals())).toEqual(new Set([false]));
  });

  it('ends slots by itself: a request that waits for a slow client blocks nobody', async () => {
    await strained();
    await ask(A, 'a4');
    expect(names()).not.toContain('a4');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(names()).toContain('a4');
  });

  it('OP-576: lets 200 requests of an identity provider wait, and leaves room for others of the tenant', async () => {
    await strained();
    for (let n = 0; n < 200; n += 1) void scheduler.enter(A, 'provider', PROVISIONING_QUEUE);
    expect(scheduler.waiting).toBe(200);
    expect(() => {
      for (let n = 0; n < 56; n += 1) void scheduler.enter(A, 'provider', PROVISIONING_QUEUE);
    }).toThrow(expect.objectContaining({ name: 'TooBusy', isOwnShare: true }));
    await ask(A, 'administrator');
    for (const name of ['a1', 'a2', 'a3']) await end(name);
    await vi.advanceTimersByTimeAsync(600);
    await ask(B, 'b1');
    await vi.advanceTimersByTimeAsync(2_500);
    expect(names()).toEqual(expect.arrayContaining(['administrator', 'b1']));
  });

  it('lets them wait longer than a person would', async () => {
    await strained();
    fastOf = 7;
    const ended: string[] = [];
    for (let n = 0; n < 60; n += 1)
      for (const [caller, queue] of [
        ['provider', PROVISIONING_QUEUE],
        ['person', undefined],
      ] as const)
        void Promise.resolve(scheduler.enter(A, caller, queue)).catch(() => ended.push(caller));
    const waited = async () => {
      for (let n = 0; n < 3; n += 1) {
        await vi.advanceTimersByTimeAsync(4_000);
        await ask(B, `b ${n}`);
      }
    };
    await waited();
    expect([ended.includes('person'), ended.includes('provider')]).toEqual([true, false]);
    await waited();
    expect(ended).toContain('provider');
  });

  it('refuses requests that wait too long, and those beyond the part of a tenant or a caller in the queue', async () => {
    await strained();
    fastOf = 7;
    const refused: unknown[] = [];
    const enter = (caller: string) =>
      void Promise.resolve(scheduler.enter(A, caller)).catch((error: unknown) => refused.push(error));
    for (let n = 0; n < 64; n += 1) enter('somebody');
    expect(() => scheduler.enter(A, 'somebody')).toThrow(
      expect.objectContaining({ name: 'TooBusy', isOwnShare: true }),
    );
    for (let n = 0; n < 192; n += 1) enter(`w${n}`);
    expect(() => scheduler.enter(A, 'one more')).toThrow(
      expect.objectContaining({ name: 'TooBusy', isOwnShare: true }),
    );
    await ask(B, 'b1');
    expect(names()).toContain('b1');
    for (let n = 0; n < 3; n += 1) {
      await vi.advanceTimersByTimeAsync(4_000);
      await ask(B, `b again ${n}`);
    }
    expect(refused.length).toBeGreaterThan(50);
    expect(refused[0]).toMatchObject({ name: 'TooBusy', isOwnShare: true });
  });
});
