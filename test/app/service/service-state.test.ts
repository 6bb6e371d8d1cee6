import { afterEach, describe, expect, it, vi } from 'vitest';
import { Unhealthy, type Probe } from '../../../src/platform/observability/health.ts';
import { ServiceState, type StateSources } from '../../../src/app/operations/service-state.ts';

const never = () => new Promise<never>(() => undefined);
const well = async () => undefined;
const UNKNOWN = 'the progress of the read models is unknown: the database did not say it in time';
const probe = (name: string, critical: boolean, check: Probe['check']): Probe => ({ name, critical, check });
const stateOf = (probes: readonly Probe[], over: Partial<StateSources> = {}) =>
  new ServiceState({ probes, lagging: async () => [], projects: true, measure: async () => undefined, ...over });

describe('the response to probes', () => {
  afterEach(() => void vi.useRealTimers());

  it('comes within a second, also when no dependency ever responds', async () => {
    const state = stateOf([probe('postgres', true, never)], { lagging: never, measure: never });
    vi.useFakeTimers();
    const responses = Promise.all([state.health(), state.readiness(), state.measured()]);
    await vi.advanceTimersByTimeAsync(999);
    const [health, readiness, measured] = (await Promise.race([responses, Promise.resolve(undefined)])) ?? [];
    expect(health).toMatchObject({
      status: 'unhealthy',
      dependencies: { postgres: { status: 'unhealthy', message: 'unavailable' } },
    });
    expect(readiness).toEqual({ status: 'unhealthy', ready: false, lagging: [] });
    expect(measured).toBe(false);
  });

  it('is not ready, and no failure, if the progress of the read models is unknown', async () => {
    const state = stateOf([probe('postgres', true, well)], { lagging: () => Promise.reject(new Error('away')) });
    expect(await state.readiness()).toEqual({ status: 'healthy', ready: false, lagging: [], reason: UNKNOWN });
  });

  it('gives the same reason if their progress is not known in time', async () => {
    const state = stateOf([probe('postgres', true, well)], { lagging: never });
    vi.useFakeTimers();
    const late = state.readiness();
    await vi.advanceTimersByTimeAsync(999);
    expect(await Promise.race([late, Promise.resolve()])).toEqual({
      status: 'healthy',
      ready: false,
      lagging: [],
      reason: UNKNOWN,
    });
  });

  it('gives the doubt of the log as the reason before any other', async () => {
    const doubted = probe('event_log', true, () => Promise.reject(new Unhealthy('the log is another one')));
    const state = stateOf([doubted], { lagging: () => Promise.reject(new Error('away')) });
    expect(await state.readiness()).toMatchObject({ ready: false, reason: 'the log is another one' });
  });

  it('stays ready without dependencies that only degrade', async () => {
    const state = stateOf([
      probe('postgres', true, well),
      probe('redis', false, () => Promise.reject(new Error('away'))),
      probe('objects', false, async () => 'cannot be reached'),
    ]);
    expect(await state.health()).toMatchObject({
      status: 'degraded',
      dependencies: { redis: { status: 'unhealthy' }, objects: { status: 'degraded' } },
    });
    expect(await state.readiness()).toEqual({ status: 'degraded', ready: true, lagging: [] });
  });

  it.each([
    ['its own delay', true, true, false],
    ["another process's delay, which is the same everywhere", false, true, true],
    ['tables that nobody serves yet', true, false, false],
    ["tables of another process's that nobody serves yet", false, false, false],
  ])('with %s', async (_, projects, isServed, ready) => {
    const lagging = async () => [{ name: 'alerts', isServed }];
    const state = stateOf([probe('postgres', true, well)], { projects, lagging });
    expect(await state.readiness()).toEqual({ status: 'healthy', ready, lagging: ['alerts'] });
  });

  it('is computed once for concurrent requests', async () => {
    let asked = 0;
    const state = stateOf([probe('postgres', true, async () => void (asked += 1))]);
    await Promise.all(Array.from({ length: 50 }, () => [state.health(), state.readiness()]).flat());
    await state.health();
    expect(asked).toBe(1);
  });

  /** Longer than a response is cached. */
  const later = () => new Promise((resolve) => setTimeout(resolve, 300));

  it('sends no third request to a peer that has not responded to two', async () => {
    let asked = 0;
    const silent = () => ((asked += 1), never());
    const state = stateOf([probe('postgres', true, silent)], { lagging: silent });
    for (let n = 0; n < 4; n += 1) {
      expect((await state.readiness()).ready).toBe(false);
      await later();
    }
    expect(asked).toBe(4);
  });

  it('is well again, at the second look, if only the connection of the first is silent', async () => {
    const silentOnce = <T>(result: T) => {
      let asked = 0;
      return () => ((asked += 1) === 1 ? never() : Promise.resolve(result));
    };
    const state = stateOf([probe('postgres', true, silentOnce(undefined))], {
      lagging: silentOnce([]),
      measure: silentOnce(undefined),
    });
    const all = () => Promise.all([state.readiness(), state.measured()]);
    expect(await all()).toMatchObject([{ ready: false }, false]);
    for (let n = 0; n < 3; n += 1) {
      await later();
      expect(await all()).toEqual([{ status: 'healthy', ready: true, lagging: [] }, true]);
    }
  });
});
