import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { EventStoreUnavailable, type EventStore } from '../../../src/platform/eventstore/port.ts';
import { AggregateLoader } from '../../../src/platform/execution/aggregate-loader.ts';
import { Executor } from '../../../src/platform/execution/executor.ts';
import { defineAggregate, streamName } from '../../../src/platform/kernel/aggregate.ts';
import { acceptWith, defineBulkCommand, duplicateOf } from '../../../src/platform/kernel/command.ts';
import { defineEvents, type EventOf } from '../../../src/platform/kernel/event.ts';
import { conflict, forbidden, isFailure, type Failure } from '../../../src/platform/kernel/failure.ts';
import type { TenantId } from '../../../src/platform/kernel/ids.ts';
import { TENANTS } from '../projector/ledger.ts';
import {
  MemoryPersonKeys,
  openProjectorApplication,
  type ProjectorApplication,
} from '../projector/projector-application.ts';

const guestEvents = defineEvents('guest', {
  GuestArrived: {
    version: 1,
    schema: z.object({ id: z.string(), name: z.string().max(20), room: z.int() }),
    personal: { subject: 'id', fields: ['name'] },
    audit: false,
  },
});
const guest = defineAggregate(guestEvents, { name: '' }, (_state, event: EventOf<typeof guestEvents>) => ({
  name: event.data.name,
}));

interface Arrival {
  readonly id: string;
  readonly name: string;
}
interface Rooms {
  free(): number | undefined;
}

const roomOf = ({ free }: Rooms): number | Failure => free() ?? forbidden('license_user_limit');
const arrive = defineBulkCommand({
  name: 'arrive',
  aggregate: guest,
  stream: ({ id }: Arrival, { tenantId }) => streamName('guest', tenantId, id),
  begins: true,
  prepare: async (_input: Arrival, ports: Rooms) => roomOf(ports),
  prepareAll: async (inputs: readonly Arrival[], ports: Rooms) => inputs.map(() => roomOf(ports)),
  decide: ({ name: known }, { id, name }, _context, room: number) =>
    known !== ''
      ? conflict('limit_reached', 'has arrived')
      : acceptWith(`${name} in ${room}`, [{ type: 'GuestArrived' as const, data: { id, name, room } }], {
          claim: [
            { kind: 'name', value: name, fields: ['name'] },
            { kind: 'room', value: String(room) },
          ],
        }),
  whenClaimed: (claim) => (claim.kind === 'room' ? 'prepareAgain' : duplicateOf(claim)),
});

/** Counts how often keys were asked for. */
class CountedKeys extends MemoryPersonKeys {
  asked = 0;

  override forSealingAll(tenantId: TenantId, ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    this.asked += 1;
    return super.forSealingAll(tenantId, ids);
  }
}

describe('a command for many inputs', () => {
  const keys = new CountedKeys();
  let application: ProjectorApplication;
  let store: EventStore;
  let reads: number;
  let rooms: number[];
  beforeAll(async () => {
    application = await openProjectorApplication([guestEvents], keys);
  });
  beforeEach(() => {
    reads = 0;
    rooms = [];
    store = new Proxy(application.store, {
      get(target, name) {
        if (name === 'readStream' || name === 'readStreams') reads += 1;
        const member = Reflect.get(target, name) as unknown;
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
  });
  afterAll(() => application.close());

  let room = 0;
  const executor = (over: Partial<EventStore> = {}) => {
    const own = { ...over, __proto__: store } as unknown as EventStore;
    const { codec } = application;
    const digest = (value: string) => createHash('sha256').update(value).digest('hex');
    const ports: Rooms = { free: () => rooms.shift() ?? (room += 1) };
    return new Executor<Rooms>(own, codec, new AggregateLoader(own, codec), digest, () => ({
      ports,
      compensate: async () => {},
    }));
  };
  const issuer = { tenantId: TENANTS[0]!, actor: { kind: 'system' as const, id: 'test' } };
  const people = (prefix: string, count: number): Arrival[] =>
    Array.from({ length: count }, (_, n) => ({ id: crypto.randomUUID(), name: `${prefix}${n}` }));
  const told = (outcomes: readonly object[]) =>
    outcomes.map((one) => (isFailure(one) ? one.code : (one as { result: string }).result.split(' ')[0]));
  const eventsOf = async (id: string) =>
    (await application.codec.decode(await application.store.readStream(streamName('guest', TENANTS[0]!, id)))).map(
      (event) => (event!.data as { name: string }).name,
    );

  it('appends all, in order, without reading a stream and with one look-up for the keys', async () => {
    const guests = people('a', 300);
    keys.asked = 0;
    const outcomes = await executor().executeAll(arrive, guests, issuer);
    expect(told(outcomes)).toEqual(guests.map(({ name }) => name));
    expect([reads, keys.asked]).toEqual([0, 1]);
    expect(await eventsOf(guests[299]!.id)).toEqual(['a299']);
    const ids = new Set(outcomes.map((one) => (isFailure(one) ? '' : String(one.position))));
    expect(ids.size).toBe(300);
  });

  it('decides alone about whoever does not get through, and stores the others', async () => {
    const [taken, there] = people('b', 2);
    await executor().executeAll(arrive, [taken!, there!], issuer);
    const guests = people('c', 6);
    const mixed = [...guests.slice(0, 3), { ...guests[3]!, name: taken!.name }, there!, ...guests.slice(4)];
    expect(told(await executor().executeAll(arrive, mixed, issuer))).toEqual([
      'c0',
      'c1',
      'c2',
      'already_exists',
      // The stream exists: the decision is made again on its state.
      'limit_reached',
      'c4',
      'c5',
    ]);
    expect(await eventsOf(guests[3]!.id)).toEqual([]);
  });

  it('prepares again where another value will do, also within one call', async () => {
    rooms = [1_000, 1_000, 1_000];
    const guests = people('d', 3);
    expect(told(await executor().executeAll(arrive, guests, issuer))).toEqual(['d0', 'd1', 'd2']);
  });

  it('tells apart the one that cannot be stored', async () => {
    const guests = people('e', 3);
    const tooLong = { id: crypto.randomUUID(), name: 'x'.repeat(21) };
    await expect(executor().executeAll(arrive, [...guests, tooLong], issuer)).rejects.toThrow('name (too_big)');
    for (const { id, name } of guests) expect(await eventsOf(id)).toEqual([name]);
  });

  it('does not repeat an append of which the store did not say whether it happened', async () => {
    const guests = people('f', 4);
    let appends = 0;
    const append: EventStore['append'] = async (one) => {
      appends += 1;
      const result = await store.append(one);
      if (one.stream.endsWith(guests[2]!.id)) throw new EventStoreUnavailable('the reply was lost');
      return result;
    };
    const outcomes = await executor({ append }).executeAll(arrive, guests, issuer);
    expect(told(outcomes)).toEqual(['f0', 'f1', 'service_unavailable', 'f3']);
    expect(appends).toBe(4);
  });

  it('finds what an earlier run of the same command id has appended', async () => {
    const guests = people('g', 2);
    const retryable = { ...issuer, isRetryable: true };
    const idOf = ({ id }: Arrival) => id;
    await executor().executeAll(arrive, guests.slice(0, 1), retryable, idOf);
    const outcomes = await executor().executeAll(arrive, guests, retryable, idOf);
    expect(outcomes.map(isFailure)).toEqual([false, false]);
    expect(await eventsOf(guests[0]!.id)).toEqual(['g0']);
  });
});
