import { describe, expect, it } from 'vitest';
import { EventStoreUnavailable } from '../../../src/platform/eventstore/port.ts';
import { boundedServices, RequestDeadline } from '../../../src/app/http/request-deadline.ts';
import type { ServiceContainer } from '../../../src/app/compose/service-container.ts';

const never = new Promise<never>(() => undefined);
const LONG = 600_000;

/** Dependencies that record their calls. */
function servicesThat(answer: () => Promise<unknown>) {
  const calls: string[] = [];
  const call = (name: string) => () => {
    calls.push(name);
    return answer();
  };
  const services = {
    head: call('head'),
    loader: { load: call('load') },
    executor: { execute: call('execute') },
    lookups: { device: call('device') },
    ports: { aggregates: {}, claimHolder: call('claimHolder'), licensePublicKey: 'a key' },
    config: { port: 8080 },
  } as unknown as ServiceContainer;
  const within = boundedServices(services);
  return {
    within: (deadline: RequestDeadline) =>
      within(deadline) as never as Record<string, () => Promise<unknown>> &
        Record<string, Record<string, () => Promise<unknown>>>,
    calls,
  };
}

const EVERY_CALL: readonly ((of: ReturnType<ReturnType<typeof servicesThat>['within']>) => Promise<unknown>)[] = [
  (of) => of['head']!(),
  (of) => of['loader']!['load']!(),
  (of) => of['executor']!['execute']!(),
  (of) => of['lookups']!['device']!(),
  (of) => of['ports']!['claimHolder']!(),
  (of) => (of['ports']!['aggregates'] as unknown as { load: () => Promise<unknown> }).load(),
];

describe('the deadline of a request', () => {
  it('ends every kind of pending call', async () => {
    const { within, calls } = servicesThat(() => never);
    const own = within(new RequestDeadline(20));
    for (const outcome of await Promise.allSettled(EVERY_CALL.map((call) => call(own)))) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(EventStoreUnavailable) });
    }
    expect(calls).toEqual(['head', 'load', 'execute', 'device', 'claimHolder', 'load']);
  });

  it('is shared by consecutive calls: after it the store is not called', async () => {
    const { within, calls } = servicesThat(() => never);
    const own = within(new RequestDeadline(20));
    for (const call of EVERY_CALL) await expect(call(own)).rejects.toBeInstanceOf(EventStoreUnavailable);
    expect(calls).toEqual(['head']);
  });

  it('passes results and errors through', async () => {
    const failure = new Error('the server said no');
    const deadline = new RequestDeadline(LONG);
    expect(await servicesThat(() => Promise.resolve(7n)).within(deadline)['head']!()).toBe(7n);
    await expect(servicesThat(() => Promise.reject(failure)).within(deadline)['head']!()).rejects.toBe(failure);
    deadline.end();
  });

  it('is separate for each request, and leaves the other dependencies unchanged', async () => {
    const { within } = servicesThat(() => Promise.resolve(1n));
    const late = new RequestDeadline(1);
    await expect(late.bound(() => never)).rejects.toBeInstanceOf(EventStoreUnavailable);
    await expect(within(late)['head']!()).rejects.toBeInstanceOf(EventStoreUnavailable);
    const other = new RequestDeadline(LONG);
    expect(await within(other)['head']!()).toBe(1n);
    other.end();
    expect(within(late)).toMatchObject({ config: { port: 8080 }, ports: { licensePublicKey: 'a key' } });
  });
});
