import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AggregateLoader } from '../../../src/platform/execution/aggregate-loader.ts';
import { Executor } from '../../../src/platform/execution/executor.ts';
import type { ExecutionContext } from '../../../src/platform/execution/execution-context.ts';
import { LogTrust } from '../../../src/platform/eventstore/log-trust.ts';
import type { StoredEvent } from '../../../src/platform/eventstore/port.ts';
import type { HandlerContext } from '../../../src/app/http/route.ts';
import { defineAggregate, streamName } from '../../../src/platform/kernel/aggregate.ts';
import { accept, acceptWith, defineCommand } from '../../../src/platform/kernel/command.ts';
import { defineEvents, type EventOf } from '../../../src/platform/kernel/event.ts';
import { conflict, isFailure, orThrow } from '../../../src/platform/kernel/failure.ts';
import { TENANTS } from '../projector/ledger.ts';
import {
  openProjectorApplication,
  type ProjectorApplication,
  type Process,
} from '../projector/projector-application.ts';

const seatEvents = defineEvents('hall', {
  SeatTaken: { version: 1, schema: z.object({ seat: z.int(), by: z.string() }), audit: false },
});
const hall = defineAggregate(seatEvents, { taken: 0 }, (_state, event: EventOf<typeof seatEvents>) => ({
  taken: event.data.seat,
}));
const SEATS = 40;

const digest = (value: string) => createHash('sha256').update(value).digest('hex');

/** Always the next seat: decided on an outdated state, two people would get one. */
const takeSeat = defineCommand({
  name: 'take-seat',
  aggregate: hall,
  stream: (input: { hall: string; by: string }, { tenantId }) => streamName('hall', tenantId, input.hall),
  decide(state, { by }) {
    if (state.taken >= SEATS) return conflict('limit_reached', 'the hall is full');
    return acceptWith(state.taken + 1, [{ type: 'SeatTaken' as const, data: { seat: state.taken + 1, by } }]);
  },
});

/** Releases all seats. */
const clearHall = defineCommand({
  ...takeSeat,
  name: 'clear-hall',
  decide: (state, { by }) =>
    acceptWith(0, state.taken === 0 ? [] : [{ type: 'SeatTaken' as const, data: { seat: 0, by } }]),
});

/** One name per person; the second one tries another number. */
const register = defineCommand({
  name: 'register',
  aggregate: hall,
  stream: (input: { id: string; name: string }, { tenantId }) => streamName('hall', tenantId, input.id),
  decide: (_state, { name }) =>
    accept([{ type: 'SeatTaken' as const, data: { seat: 1, by: name } }], { claim: [{ kind: 'name', value: name }] }),
  whenClaimed: () => conflict('already_exists', 'that name is taken'),
});
const registerNumbered = defineCommand({
  ...register,
  name: 'register-numbered',
  prepare: async ({ name }: { id: string; name: string }, ports: { next: () => number }) => `${name}-${ports.next()}`,
  decide: (_state, _input, _context, name: string) =>
    accept([{ type: 'SeatTaken' as const, data: { seat: 1, by: name } }], { claim: [{ kind: 'name', value: name }] }),
  whenClaimed: () => 'prepareAgain' as const,
});

/** Never called: `npm run check` fails if a marked line compiles. */
export function doesNotCompile(
  none: Executor<Record<never, never>>,
  one: Executor<{ next: () => number }>,
  call: HandlerContext<never, never, never>,
  execution: ExecutionContext,
): void {
  const needsMore = defineCommand({
    ...register,
    prepare: async (_input: { id: string; name: string }, ports: { next: () => number; other: string }) => ports.other,
    decide: () => accept([]),
  });
  const input = { id: '1', name: 'Ada' };
  // @ts-expect-error the executor has no port at all
  void none.execute(registerNumbered, input, execution);
  // @ts-expect-error the executor lacks one of the two ports
  void one.execute(needsMore, input, execution);
  // @ts-expect-error the application has no such port
  void call.run(registerNumbered, input);
  // @ts-expect-error another input
  void call.run(takeSeat, { hall: 'main', by: 7 });
}

/** The store, with another way to read a stream. */
function readingStreams(
  store: Process['store'],
  instead: (read: () => Promise<StoredEvent[]>) => Promise<StoredEvent[]>,
): Process['store'] {
  return new Proxy(store, {
    get: (target, key) => {
      const value = Reflect.get(target, key) as unknown;
      if (typeof value !== 'function') return value;
      if (key !== 'readStream') return value.bind(target) as unknown;
      return (...given: Parameters<typeof target.readStream>) => instead(() => target.readStream(...given));
    },
  });
}

describe('concurrent commands', () => {
  let application: ProjectorApplication;
  let nodes: Process[];
  let executors: Executor<{ next: () => number }>[];
  beforeAll(async () => {
    application = await openProjectorApplication([seatEvents]);
    nodes = [application, await application.another()];
    let number = 0;
    // All start with the same few numbers, so that they conflict again and again.
    const next = () => 1 + ((number += 1) >> 2);
    executors = nodes.map(
      ({ store, codec }) =>
        new Executor(store, codec, new AggregateLoader(store, codec), digest, () => ({
          ports: { next },
          compensate: async () => {},
        })),
    );
  });
  afterAll(() => application.close());
  const issuer = { tenantId: TENANTS[0]!, actor: { kind: 'system' as const, id: 'test' } };
  const seatsOf = async (name: string) =>
    (await application.store.readStream(streamName('hall', TENANTS[0]!, name))).map(
      ({ data }) => (data as { seat: number }).seat,
    );

  it('are decided again if the log came into doubt while their state was read', async () => {
    const { store, codec } = application;
    const input = { hall: randomUUID(), by: 'Ada' };
    orThrow(await executors[0]!.execute(takeSeat, input, issuer));
    let reads = 0;
    // The first read is of another log, which has another event at the same revision.
    const doubtful = readingStreams(store, async (read) => {
      const events = await read();
      if ((reads += 1) > 1) return events;
      loader.forget();
      return events.map((event) => ({ ...event, data: { seat: 7, by: 'a stranger' } }));
    });
    const loader = new AggregateLoader(doubtful, codec);
    const executor = new Executor(doubtful, codec, loader, digest, () => ({
      ports: { next: () => 1 },
      compensate: async () => {},
    }));
    expect(orThrow(await executor.execute(takeSeat, input, issuer)).result).toBe(2);
  });

  it('that would append nothing are decided again after a doubt, even if no check saw another log', async () => {
    const { store, codec } = application;
    const input = { hall: randomUUID(), by: 'Ada' };
    orThrow(await executors[0]!.execute(takeSeat, input, issuer));
    const trust = new LogTrust();
    const doubt = () => (trust.suspect('a connection was lost'), trust.confirmed(trust.epoch));
    let reads = 0;
    // The first read is of another log, which does not have the stream.
    const doubtful = readingStreams(store, async (read) => {
      if ((reads += 1) > 1) return read();
      doubt();
      setTimeout(doubt);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return [];
    });
    const executor = new Executor(
      doubtful,
      codec,
      new AggregateLoader(doubtful, codec),
      digest,
      () => ({ ports: { next: () => 1 }, compensate: async () => {} }),
      undefined,
      { trust },
    );
    const { position } = orThrow(await executor.execute(clearHall, input, issuer));
    expect(position).toBeDefined();
    expect((await application.store.readStream(streamName('hall', TENANTS[0]!, input.hall))).length).toBe(2);
  });

  it('on one stream in one process are all decided on the newest state', async () => {
    const people = Array.from({ length: 50 }, (_, at) => `p${at}`);
    const answers = await Promise.all(people.map((by) => executors[0]!.execute(takeSeat, { hall: 'one', by }, issuer)));
    expect(await seatsOf('one')).toEqual(Array.from({ length: SEATS }, (_, at) => at + 1));
    const refused = answers.filter(isFailure);
    expect(refused.map(({ message }) => message)).toEqual(Array(50 - SEATS).fill('the hall is full'));
    const given = answers.filter((answer) => !isFailure(answer)).map((answer) => orThrow(answer).result);
    expect(given.sort((a, b) => a - b)).toEqual(await seatsOf('one'));
  });

  it('on one stream in two processes never decide on an outdated state', async () => {
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, at) =>
        executors[at % 2]!.execute(takeSeat, { hall: 'two', by: `p${at}` }, issuer),
      ),
    );
    const given = answers.map((answer) => orThrow(answer).result).sort((a, b) => a - b);
    expect(given).toEqual(Array.from({ length: 16 }, (_, at) => at + 1));
    expect(await seatsOf('two')).toEqual(given);
  });

  describe('after another on the same stream', () => {
    const countReads = () => {
      let reads = 0;
      const store = new Proxy(application.store, {
        get: (target, key) => {
          if (key === 'readStream') reads += 1;
          const value = Reflect.get(target, key) as unknown;
          return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        },
      });
      const executor = new Executor<{ next: () => number }>(
        store,
        application.codec,
        new AggregateLoader(store, application.codec),
        digest,
        () => ({ ports: { next: () => 0 }, compensate: async () => {} }),
      );
      return { executor, reads: () => reads };
    };

    it('are decided on its cached state: nothing is read again', async () => {
      const { executor, reads } = countReads();
      await executor.execute(takeSeat, { hall: 'three', by: 'a' }, issuer);
      const before = reads();
      expect(orThrow(await executor.execute(takeSeat, { hall: 'three', by: 'b' }, issuer)).result).toBe(2);
      expect([before, reads() - before]).toEqual([1, 0]);
    });

    it('are decided again, before a refusal or a result without events, if the cached state was outdated', async () => {
      const { executor } = countReads();
      const [other] = executors;
      await executor.execute(takeSeat, { hall: 'four', by: 'a' }, issuer);
      await other!.execute(clearHall, { hall: 'four', by: 'b' }, issuer);
      expect(
        orThrow(await executor.execute(takeSeat, { hall: 'four', by: 'a' }, issuer)).result,
        'an event on the newest state',
      ).toBe(1);
      await executor.execute(clearHall, { hall: 'four', by: 'a' }, issuer);
      for (let seat = 1; seat <= SEATS; seat += 1) await other!.execute(takeSeat, { hall: 'four', by: 'b' }, issuer);
      expect(
        orThrow(await executor.execute(clearHall, { hall: 'four', by: 'a' }, issuer)).events,
        'remembered as clear, though it is full',
      ).toHaveLength(1);
      for (let seat = 1; seat <= SEATS; seat += 1) await executor.execute(takeSeat, { hall: 'four', by: 'a' }, issuer);
      await other!.execute(clearHall, { hall: 'four', by: 'b' }, issuer);
      expect(
        orThrow(await executor.execute(takeSeat, { hall: 'four', by: 'a' }, issuer)).result,
        'remembered as full, though it is clear',
      ).toBe(1);
    });
  });

  it('undo their preparation, whether it throws or the decision refuses', async () => {
    const undone: string[] = [];
    const executor = new Executor<{ what: string }>(
      application.store,
      application.codec,
      new AggregateLoader(application.store, application.codec),
      digest,
      () => ({ ports: { what: 'kept' }, compensate: async () => void undone.push('undone') }),
    );
    const fail = (how: 'throws' | 'refuses' | 'decides') =>
      executor.execute(
        defineCommand({
          ...takeSeat,
          prepare: async () => {
            if (how === 'throws') throw new Error('a peer is away');
            return how === 'refuses' ? conflict() : undefined;
          },
          decide: () => conflict(),
        }),
        { hall: 'eleven', by: 'a' },
        issuer,
      );
    await expect(fail('throws')).rejects.toThrow('a peer is away');
    expect(undone).toEqual(['undone']);
    for (const how of ['refuses', 'decides'] as const) expect(isFailure(await fail(how))).toBe(true);
    expect(undone).toHaveLength(3);
  });

  it('give a claim to one of them, and refuse the others', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        executors[at % 2]!.execute(register, { id: `r${at}`, name: 'ann' }, issuer),
      ),
    );
    expect(answers.filter((answer) => !isFailure(answer))).toHaveLength(1);
    expect(answers.filter(isFailure).map(({ kind, message }) => [kind, message])).toEqual(
      Array(11).fill(['conflict', 'that name is taken']),
    );
  });

  it('prepare again if another value would work, until each has one', async () => {
    const ids = Array.from({ length: 6 }, (_, at) => `n${at}`);
    const answers = await Promise.all(
      ids.map((id, at) => executors[at % 2]!.execute(registerNumbered, { id, name: 'bob' }, issuer)),
    );
    for (const answer of answers) orThrow(answer);
    const names = await Promise.all(
      ids.map(
        async (id) =>
          ((await application.store.readStream(streamName('hall', TENANTS[0]!, id)))[0]!.data as { by: string }).by,
      ),
    );
    expect(new Set(names).size).toBe(6);
  });

  it('return the first result when the same command is retried before anything else happened', async () => {
    const commandId = randomUUID();
    const { store, codec } = nodes[0]!;
    const fresh = () =>
      new Executor(store, codec, new AggregateLoader(store, codec), digest, () => ({
        ports: {},
        compensate: async () => {},
      }));
    const first = orThrow(
      await fresh().execute(register, { id: 'again', name: 'a'.repeat(64) }, { ...issuer, commandId }),
    );
    const events = (await store.readStream(streamName('hall', TENANTS[0]!, 'again'))).map(({ id }) => id);
    const verdict = await store.append({
      tenantId: TENANTS[0]!,
      stream: streamName('hall', TENANTS[0]!, 'again'),
      expectedRevision: -1n,
      events: events.map((id) => ({
        id,
        type: 'SeatTaken',
        version: 1,
        data: '{}',
        metadata: { actor: issuer.actor, correlationId: commandId, causationId: commandId, commandId },
      })),
      claim: [],
      release: [],
    });
    expect(verdict).toMatchObject({ kind: 'appended', revision: first.revision, position: first.position });
  });
});
