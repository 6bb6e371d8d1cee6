import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Position } from '../../../src/platform/kernel/event.ts';
import type {
  AllStreamPage,
  AppendNotification,
  EventStore,
  StoredEvent,
} from '../../../src/platform/eventstore/port.ts';
import type { PostgresEventStore } from '../../../src/platform/eventstore/postgres/postgres-event-store.ts';
import { CatchUpSubscription } from '../../../src/platform/projector/catch-up-subscription.ts';
import { PositionGapError } from '../../../src/platform/projector/position-gap.ts';
import {
  eventually,
  log,
  openProjectorApplication,
  type ProjectorApplication,
  type Process,
} from './projector-application.ts';
import { entries, ledgerEvents } from './ledger.ts';

const closed = { type: 'EntryClosed', data: { entry: 'a' } };
const WRITERS = 12;
const bound = (of: object, value: unknown) => (typeof value === 'function' ? (value.bind(of) as unknown) : value);

describe('the catch-up subscription', () => {
  let application: ProjectorApplication;
  beforeEach(async () => {
    application = await openProjectorApplication([ledgerEvents]);
  });
  afterEach(() => application.close());

  /** Reads like a lane, up to a position; returns the positions that it saw. */
  async function follow(
    subscription: CatchUpSubscription,
    from: Position,
    until: Position,
    limit: number,
  ): Promise<Position[]> {
    const seen: Position[] = [];
    for (let at = from; at < until;) {
      const slice = await subscription.read(at, limit);
      if (slice.position === at) await subscription.wait(at, 100);
      seen.push(...slice.events.map(({ position }) => position));
      at = slice.position;
    }
    return seen;
  }
  const through = (from: Position, to: Position) =>
    Array.from({ length: Number(to - from) }, (_, index) => from + BigInt(index + 1));

  async function race(processes: readonly Process[]): Promise<void> {
    const total = BigInt(WRITERS * 8);
    const followers = processes.flatMap(({ subscription }) =>
      [1, 7, 500].map((limit) => follow(subscription, 0n, total, limit)),
    );
    await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        for (let round = 0; round < 4; round += 1) await application.happen(`ledger-w.${writer}`, [closed, closed]);
      }),
    );
    for (const seen of await Promise.all(followers)) expect(seen).toEqual(through(0n, total));
  }

  it('has no gap under twelve concurrent writers, in writing and in reading processes', async () => {
    await race([application, await application.another()]);
  });

  it('has no gap either if LISTEN does not work', async () => {
    await race([await application.another({ deaf: true })]);
  });

  it('returns exactly the rest from any position, also to later subscribers', async () => {
    for (let at = 0; at < 10; at += 1) await application.happen('ledger-w.1', [closed, closed]);
    const late = await application.another();
    for (const { subscription } of [application, late]) {
      for (let from = 0n; from <= 20n; from += 1n)
        expect(await follow(subscription, from, 20n, 3)).toEqual(through(from, 20n));
    }
  });

  it('raises the alarm if a position is missing', async () => {
    for (let at = 0; at < 6; at += 1) await application.happen('ledger-w.1', [closed]);
    await application.sql('delete from events where position = 4');
    const { subscription } = await application.another();
    expect((await subscription.read(0n, 3)).position).toBe(3n);
    await expect(subscription.read(0n, 100)).rejects.toThrow(new PositionGapError(3n, 5n));
    await expect(subscription.read(3n, 100)).rejects.toThrow(PositionGapError);
    expect((await subscription.read(4n, 100)).position).toBe(6n);
  });

  it('never returns a position before the requested one', async () => {
    const deaf = await application.another({ deaf: true });
    expect((await deaf.subscription.read(0n, 10)).position).toBe(0n);
    await application.happen('ledger-w.1', [closed, closed, closed]);
    // Another process has moved a checkpoint to 3; this one has received no hint yet.
    expect(await deaf.subscription.read(3n, 10)).toEqual({ events: [], position: 3n });
    expect(await deaf.subscription.read(99n, 10)).toEqual({ events: [], position: 99n });
    await application.happen('ledger-w.1', [closed]);
    await deaf.subscription.wait(3n, 1);
    expect((await deaf.subscription.read(3n, 10)).events.map(({ position }) => position)).toEqual([4n]);
  });

  it('does not miss a hint that arrives during a read', async () => {
    const store = new SlowStore(application.store);
    const subscription = await CatchUpSubscription.open(store.asStore(), application.codec, log);
    await subscription.read(0n, 10);
    await subscription.wait(0n, 1);
    const reading = subscription.read(0n, 10);
    await store.asked;
    // Committed after the reader's snapshot, announced before its response.
    await application.happen('ledger-w.1', [closed]);
    store.wake();
    store.answer({ events: [], position: 0n });
    expect((await reading).events).toEqual([]);
    // If the hint were lost, only the timeout would end this wait, long after the test.
    await subscription.wait(0n, 600_000);
    expect((await subscription.read(0n, 10)).position).toBe(1n);
    subscription.close();
  });

  it('does not wake subscribers that no new event concerns, but those that one concerned before they waited', async () => {
    // Receives hints for appends of this process only: a notification may raise the suspicion of more events, and wake
    // everything.
    const onGrowth: EventStore['onGrowth'] = (wake) => application.store.onGrowth((hint) => hint?.events && wake(hint));
    const store = new Proxy<EventStore>(application.store, {
      get: (of, name) => (name === 'onGrowth' ? onGrowth : bound(of, Reflect.get(of, name))),
    });
    const subscription = await CatchUpSubscription.open(store, application.codec, log);
    const woken: string[] = [];
    const sleeper = (name: string, after: Position, types: readonly string[]) =>
      subscription.wait(after, 600_000, { concerns: (type) => types.includes(type) }).then(() => woken.push(name));
    // The first read clears the suspicion from the start.
    await subscription.read(0n, 10);
    void sleeper('of others', 0n, ['SomethingElse']);
    const closes = sleeper('of closing', 0n, ['EntryClosed']);
    await application.happen('ledger-w.1', [closed]);
    await closes;
    await sleeper('late', 0n, ['EntryClosed']);
    expect(woken).toEqual(['of closing', 'late']);
    for (let at = 0; at < 10; at += 1)
      await application.happen(
        'ledger-w.1',
        Array.from({ length: 60 }, () => closed),
      );
    await eventually('who was left far behind wakes too', () => woken.includes('of others'));
    subscription.close();
  });

  it('lets another process take over the leases of one that died silently', async () => {
    const dying = await application.another();
    const projector = dying.projector([entries]);
    await projector.start();
    await application.happen('ledger-w.1', [closed]);
    await eventually('it holds the lease', async () => (await projector.checkpoints.all())[0]!.position === 1n);
    await dying.database.projector.end();
    const heir = (await application.another({ deaf: true })).projector([entries]);
    await heir.start();
    await application.happen('ledger-w.1', [closed]);
    await eventually('the heir goes on', async () => (await heir.checkpoints.all())[0]!.position === 2n);
  });
});

describe('a store whose positions have gaps, with records of others between our events', () => {
  const stored = { position: 10n, type: 'EntryClosed' } as StoredEvent;
  let hear: (hint?: AppendNotification) => void = () => undefined;
  const reads: Position[] = [];
  /** Our event at 10; the log ends at 15, with records of others. */
  const readAll = async (after: Position): Promise<AllStreamPage> => {
    reads.push(after);
    return after < 10n ? { events: [stored], position: 10n } : { events: [], position: 15n };
  };
  const store = {
    gapless: false,
    head: async () => 5n,
    onGrowth: (wake: typeof hear) => ((hear = wake), () => undefined),
    readAll,
  } as unknown as EventStore;
  const open = async () => {
    reads.length = 0;
    const subscription = await CatchUpSubscription.open(store, { isLasting: () => true } as never, log);
    // The first read clears the suspicion from the start.
    store.readAll = async (after) => ({ events: [], position: after });
    await subscription.read(5n, 10);
    store.readAll = readAll;
    return subscription;
  };
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('reads an announced event at once: no events will come with the announcement', async () => {
    const subscription = await open();
    const waiting = subscription.wait(5n, 600_000);
    hear({ head: 10n });
    // No timer runs.
    await waiting;
    expect(await subscription.read(5n, 10)).toEqual({ events: [stored], position: 10n });
    subscription.close();
  });

  it('reads an announced event before it wakes anybody, and wakes only whom it concerns, however far positions jump', async () => {
    const far = { position: 90_000n, type: 'EntryClosed' } as StoredEvent;
    const subscription = await open();
    store.readAll = async (after) => (
      reads.push(after),
      after < 90_000n ? { events: [far], position: 90_000n } : { events: [], position: after }
    );
    const woken: string[] = [];
    const sleeper = (name: string, types: readonly string[]) =>
      subscription.wait(5n, 600_000, { concerns: (type) => types.includes(type) }).then(() => woken.push(name));
    void sleeper('of others', ['SomethingElse']);
    const concerned = sleeper('of closing', ['EntryClosed']);
    hear({ head: 90_000n });
    await concerned;
    expect(woken).toEqual(['of closing']);
    // It was read once, for all of them, and nobody who waits from here on is told of it again.
    expect(reads).toEqual([5n]);
    expect(await subscription.read(5n, 10)).toEqual({ events: [far], position: 90_000n });
    expect(reads).toEqual([5n]);
    void sleeper('who came later', ['SomethingElse']);
    await vi.advanceTimersByTimeAsync(50);
    expect(woken).toEqual(['of closing']);
    // They pass it soon afterwards, so that their checkpoints follow.
    await vi.advanceTimersByTimeAsync(1_000);
    expect(woken).toEqual(['of closing', 'of others', 'who came later']);
    subscription.close();
  });

  it('reads again when an announcement arrives during the read of the one before', async () => {
    const subscription = await open();
    const answers: ((page: AllStreamPage) => void)[] = [];
    store.readAll = (after) => (reads.push(after), new Promise((resolve) => answers.push(resolve)));
    const waiting = subscription.wait(5n, 600_000, { concerns: (type) => type === 'EntryMoved' });
    hear({ head: 10n });
    hear({ head: 20n });
    answers.shift()!({ events: [stored], position: 10n });
    await vi.waitFor(() => expect(reads).toEqual([5n, 10n]));
    answers.shift()!({ events: [{ position: 20n, type: 'EntryMoved' } as StoredEvent], position: 20n });
    await waiting;
    expect(subscription.head).toBe(20n);
    subscription.close();
  });

  it('wakes everybody if an announced event cannot be read, or if more follow than one page holds', async () => {
    const subscription = await open();
    const sleep = () => subscription.wait(subscription.head, 600_000, { concerns: () => false });
    store.readAll = () => Promise.reject(new Error('the store is away'));
    const first = sleep();
    hear({ head: 10n });
    await first;
    store.readAll = async () => ({ events: [stored], position: 10n, more: true });
    await subscription.read(5n, 10);
    // The page said that there is more: nobody waits for what is there.
    await sleep();
    store.readAll = async () => ({ events: [], position: 10n });
    await subscription.read(10n, 10);
    store.readAll = async () => ({
      events: [{ position: 20n, type: 'EntryClosed' } as StoredEvent],
      position: 20n,
      more: true,
    });
    const second = sleep();
    hear({ head: 30n });
    await second;
    subscription.close();
  });

  it('passes the records behind a new event soon, but not before the event is delivered', async () => {
    const subscription = await open();
    hear({ head: 10n });
    expect((await subscription.read(5n, 10)).position).toBe(10n);
    // The announcement of a write comes twice: with its response, and from the server.
    hear({ head: 10n });
    expect(await subscription.read(10n, 10)).toEqual({ events: [], position: 10n });
    expect(reads).toEqual([5n]);
    const waiting = subscription.wait(10n, 600_000);
    await vi.advanceTimersByTimeAsync(1_000);
    await waiting;
    expect(await subscription.read(10n, 10)).toEqual({ events: [], position: 15n });
    expect(reads).toEqual([5n, 10n]);
    subscription.close();
  });

  it('believes no read of another log that ends after the return to the known one', async () => {
    const subscription = await open();
    const answers: ((page: AllStreamPage) => void)[] = [];
    store.readAll = (after) => (reads.push(after), new Promise((resolve) => answers.push(resolve)));
    hear({ head: 90_000n });
    const ofTheOther = subscription.read(5n, 10);
    await vi.waitFor(() => expect(reads).toEqual([5n]));
    subscription.returnTo({ head: 5n, mark: undefined });
    // Nobody waits for the store that is gone.
    const ofTheKnown = subscription.read(5n, 10);
    await vi.waitFor(() => expect(reads).toEqual([5n, 5n]));
    answers.shift()!({ events: [{ position: 90_000n, type: 'EntryClosed' } as StoredEvent], position: 90_000n });
    expect(await ofTheOther).toEqual({ events: [], position: 5n });
    expect([subscription.head, subscription.mark]).toEqual([5n, undefined]);
    answers.shift()!({ events: [stored], position: 10n });
    expect(await ofTheKnown).toEqual({ events: [stored], position: 10n });
    expect([subscription.head, subscription.mark?.position]).toEqual([10n, 10n]);
    subscription.close();
  });
});

describe('a return to what was known of a log', () => {
  it('decodes the events again, whose keys may have been missing', async () => {
    const stored = { position: 6n, id: 'event 6', type: 'EntryClosed' } as StoredEvent;
    const store = { gapless: true, head: async () => 5n, onGrowth: () => () => undefined } as unknown as EventStore;
    const found: string[] = ['erased', 'Ada', 'Ada'];
    let late: () => void = () => undefined;
    const codec = {
      isLasting: () => true,
      decodeForFollowers: async () => {
        const name = found.shift();
        await new Promise<void>((resolve) => (late = resolve));
        return [{ data: { name } }];
      },
    };
    const subscription = await CatchUpSubscription.open(store, codec as never, log);
    const nameOf = async () => ((await subscription.decode([stored]))[0]!.data as { name: string }).name;
    const before = nameOf();
    subscription.returnTo({ head: 6n, mark: undefined });
    // What was being decoded during the return is not kept either.
    late();
    expect(await before).toBe('erased');
    for (let times = 0; times < 2; times += 1) {
      const after = nameOf();
      late();
      expect(await after).toBe('Ada');
    }
    expect(found).toEqual(['Ada']);
    subscription.close();
  });

  it('keeps the events up to there, so that a late announcement of one raises no new doubt', async () => {
    const events = [6n, 7n, 8n, 9n].map(
      (position) => ({ position, id: `event ${position}`, type: 'EntryClosed' }) as StoredEvent,
    );
    let hear: (hint?: AppendNotification) => void = () => undefined;
    let reads = 0;
    const store = {
      gapless: true,
      head: async () => 5n,
      onGrowth: (wake: typeof hear) => ((hear = wake), () => undefined),
      readAll: async (after: Position) => {
        reads += 1;
        return { events: events.filter(({ position }) => position > after), position: 9n };
      },
    } as unknown as EventStore;
    const subscription = await CatchUpSubscription.open(store, { isLasting: () => true } as never, log);
    let suspicions = 0;
    subscription.cut.whenSuspected(() => (suspicions += 1));
    expect((await subscription.read(5n, 10)).position).toBe(9n);
    subscription.returnTo({ head: 8n, mark: undefined });
    expect(subscription.head).toBe(8n);
    hear({ events: events.slice(1, 3) });
    expect(suspicions).toBe(0);
    expect(await subscription.read(5n, 10)).toEqual({ events: events.slice(0, 3), position: 8n });
    expect(reads).toBe(1);
    expect(await subscription.read(8n, 10)).toEqual({ events: events.slice(3), position: 9n });
    subscription.returnTo({ head: 3n, mark: undefined });
    expect(subscription.head).toBe(3n);
    subscription.close();
  });
});

/** A store whose second read of the log hangs until the test releases it. */
class SlowStore {
  readonly #store: PostgresEventStore;
  #reads = 0;
  wake: () => void = () => undefined;
  answer: (page: AllStreamPage) => void = () => undefined;
  readonly asked: Promise<void>;
  #ask: () => void = () => undefined;

  constructor(store: PostgresEventStore) {
    this.#store = store;
    this.asked = new Promise((resolve) => (this.#ask = resolve));
  }

  asStore(): PostgresEventStore {
    return new Proxy(this.#store, {
      get: (store, name) => {
        if (name === 'onGrowth') {
          return (wake: () => void) => {
            this.wake = wake;
            return () => undefined;
          };
        }
        if (name === 'readAll') {
          return (after: Position, limit: number) => {
            this.#reads += 1;
            if (this.#reads !== 2) return store.readAll(after, limit);
            return new Promise<AllStreamPage>((resolve) => {
              this.answer = resolve;
              this.#ask();
            });
          };
        }
        const value = Reflect.get(store, name, store) as unknown;
        return typeof value === 'function' ? (value as (...parameters: unknown[]) => unknown).bind(store) : value;
      },
    });
  }
}
