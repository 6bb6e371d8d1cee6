import { describe, expect, it } from 'vitest';
import { EventStoreUnavailable, type EventStore } from '../../src/eventstore/port.ts';
import { withinRequests, withRequestDeadline } from '../../src/eventstore/request-deadline.ts';

const never = new Promise<never>(() => undefined);

/** A store that notes what it is asked. */
function storeThat(answer: () => Promise<bigint>): { store: EventStore; calls: () => number } {
  let calls = 0;
  const head = () => {
    calls += 1;
    return answer();
  };
  return { store: withinRequests({ head } as EventStore), calls: () => calls };
}

describe('the deadline of a request', () => {
  it('is shared by calls in a row: after it the store is not even asked', async () => {
    const { store, calls } = storeThat(() => never);
    await withRequestDeadline(20, async () => {
      await expect(store.head()).rejects.toBeInstanceOf(EventStoreUnavailable);
      for (let count = 0; count < 5; count += 1) await expect(store.head()).rejects.toBeInstanceOf(EventStoreUnavailable);
    });
    expect(calls()).toBe(1);
  });

  it('ends calls that are under way at the same time', async () => {
    const { store, calls } = storeThat(() => never);
    await withRequestDeadline(20, async () => {
      const outcomes = await Promise.allSettled([store.head(), Promise.resolve().then(() => store.head())]);
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    });
    expect(calls()).toBe(2);
  });

  it('lets answers and errors through', async () => {
    const failure = new Error('the server said no');
    await withRequestDeadline(600_000, async () => {
      expect(await storeThat(() => Promise.resolve(7n)).store.head()).toBe(7n);
      await expect(storeThat(() => Promise.reject(failure)).store.head()).rejects.toBe(failure);
    });
  });

  it('is each request’s own, and binds nothing that no request led to', async () => {
    const { store, calls } = storeThat(() => Promise.resolve(1n));
    const late = withRequestDeadline(1, async () => {
      await expect(withinRequests({ head: () => never } as unknown as EventStore).head()).rejects.toThrow();
      await store.head();
    });
    await expect(late).rejects.toBeInstanceOf(EventStoreUnavailable);
    expect(await withRequestDeadline(600_000, () => store.head())).toBe(1n);
    expect(await store.head()).toBe(1n);
    expect(calls()).toBe(2);
  });
});
