import { AsyncLocalStorage } from 'node:async_hooks';
import { EventStoreUnavailable, type EventStore } from './port.ts';

/** One budget of time for all that one request asks of the event store. It begins with the first call: what a request waits for before is no fault of the store. */
class RequestDeadline {
  readonly #totalMs: number;
  #dueAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #underWay = new Set<(error: Error) => void>();

  constructor(totalMs: number) {
    this.#totalMs = totalMs;
  }

  /** What becomes of the call after the deadline is not known: an append may still arrive, as after any lost reply. */
  async bound<T>(call: () => Promise<T>): Promise<T> {
    this.#dueAt ??= performance.now() + this.#totalMs;
    const left = this.#dueAt - performance.now();
    if (left <= 0) throw overdue();
    return new Promise<T>((resolve, reject) => {
      this.#underWay.add(reject);
      // One timer for all calls of a request, running while one of them is under way.
      this.#timer ??= setTimeout(() => this.#expire(), left);
      call().then(resolve, reject).finally(() => this.#settled(reject));
    });
  }

  #settled(reject: (error: Error) => void): void {
    this.#underWay.delete(reject);
    if (this.#underWay.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #expire(): void {
    for (const reject of this.#underWay) reject(overdue());
  }
}

const overdue = (): EventStoreUnavailable => new EventStoreUnavailable('the event store did not answer within the time of the request');

const current = new AsyncLocalStorage<RequestDeadline>();

/** Runs what serves one request: all its calls to a store `withinRequests`, also those that it makes later, share so many milliseconds. */
export const withRequestDeadline = <T>(totalMs: number, serve: () => T): T => current.run(new RequestDeadline(totalMs), serve);

/** What a request waits for together with others, bound by its own deadline. Outside of requests nothing is bound. */
export function withinRequest<T>(wait: () => Promise<T>): Promise<T> {
  const deadline = current.getStore();
  return deadline ? deadline.bound(wait) : wait();
}

/**
 * The store, whose calls on behalf of a request share the deadline of that request. Without it a request that makes several calls in a
 * row, each with a patience of its own, answers after the sum of them. Reactions, jobs and commands of operators have no such deadline.
 */
export function withinRequests(store: EventStore): EventStore {
  const bounded =
    <Arguments extends unknown[], Result>(call: (...given: Arguments) => Promise<Result>) =>
    (...given: Arguments): Promise<Result> =>
      withinRequest(() => call(...given));
  return {
    name: store.name,
    gapless: store.gapless,
    append: bounded((append) => store.append(append)),
    readStream: bounded((stream, options) => store.readStream(stream, options)),
    readStreamTail: bounded((stream, limit) => store.readStreamTail(stream, limit)),
    readFeed: bounded((after, limit, filter) => store.readFeed(after, limit, filter)),
    head: bounded(() => store.head()),
    idAt: bounded((position) => store.idAt(position)),
    claimHolder: bounded((claim) => store.claimHolder(claim)),
    setRetention: bounded((stream, maxAgeDays) => store.setRetention(stream, maxAgeDays)),
    forgetTelemetryOf: bounded((tenantId, personId) => store.forgetTelemetryOf(tenantId, personId)),
    trimExpired: bounded((most) => store.trimExpired(most)),
    sweepClaims: bounded(() => store.sweepClaims()),
    ping: bounded(() => store.ping()),
    onGrowth: (wake) => store.onGrowth(wake),
    onInterruption: (heard) => store.onInterruption(heard),
    close: () => store.close(),
  };
}
