import { EventStoreUnavailable } from '../../platform/eventstore/port.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { Lookups } from '../../contexts/identity/lookups.ts';
import type { Position } from '../../platform/kernel/event.ts';

/** As long as a statement of the database may take (decision 0017). */
export const REQUEST_MS = 10_000;
/** Of a request that makes one change after another: each makes progress, and together they take a while. */
export const BULK_MS = 120_000;

/**
 * One budget of time for all that one request asks of the event store. It begins with the first call: what a request waits for before is
 * no fault of the store.
 */
export class RequestDeadline {
  readonly #totalMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  readonly #underWay = new Set<(error: Error) => void>();

  constructor(totalMs: number) {
    this.#totalMs = totalMs;
  }

  /** What becomes of the call after the deadline is not known: an append may still arrive, as after any lost reply. */
  bound<T>(call: () => Promise<T>): Promise<T> {
    if (this.#isOver) return Promise.reject(overdue());
    // One timer a request, of the same length for all: cheaper than one a call.
    this.#timer ??= setTimeout(() => this.#expire(), this.#totalMs).unref();
    return new Promise<T>((resolve, reject) => {
      this.#underWay.add(reject);
      const settled = () => this.#underWay.delete(reject);
      call().then(resolve, reject).then(settled, settled);
    });
  }

  /** What the request waited for its turn was not the event store's doing. */
  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** The request was answered. */
  end(): void {
    clearTimeout(this.#timer);
  }

  #expire(): void {
    this.#isOver = true;
    for (const reject of this.#underWay) reject(overdue());
  }
}

const overdue = (): EventStoreUnavailable =>
  new EventStoreUnavailable('the event store did not answer within the time of the request');

type Asynchronous = Record<string, (...given: never[]) => Promise<unknown>>;

/** The same object, of which these methods are bound by a deadline; the others are not to be called through it. */
function bounded<T extends object>(target: T, deadline: RequestDeadline, names: readonly (keyof T & string)[]): T {
  const methods = target as unknown as Asynchronous;
  const own = names.map((name) => [name, (...given: never[]) => deadline.bound(() => methods[name]!(...given))]);
  return Object.assign(Object.create(target) as T, Object.fromEntries(own));
}

/** What asks the event store on behalf of a request. */
export interface DeadlineDependencies {
  readonly loader: AggregateLoader;
  readonly executor: Executor<CommandPorts>;
  readonly lookups: Lookups;
  readonly ports: CommandPorts;
  head(): Promise<Position>;
}

/**
 * The services as one request has them: what asks the event store for it shares one deadline. Made of one object a request; what a
 * request does not use costs nothing. (An `AsyncLocalStorage` would do the same from below, and cost every promise of the process.)
 */
export function boundedServices<Dependencies extends DeadlineDependencies>(
  services: Dependencies,
): (deadline: RequestDeadline) => Dependencies {
  const { ports } = services;
  const view = Object.create(services) as Dependencies & { deadline: RequestDeadline };
  const loader = (deadline: RequestDeadline) =>
    bounded(services.loader, deadline, ['load', 'loadWithRevision', 'loadTail', 'loadBefore', 'followTail']);
  const share = (name: keyof DeadlineDependencies, make: (deadline: RequestDeadline) => unknown) =>
    Object.defineProperty(view, name, {
      get(this: typeof view) {
        return make(this.deadline);
      },
    });
  share('loader', loader);
  share('executor', (deadline) => bounded(services.executor, deadline, ['execute', 'recall', 'claimHolder']));
  share('lookups', (deadline) =>
    bounded(services.lookups, deadline, ['adminSession', 'orgSession', 'device', 'employee', 'tenant']),
  );
  share('head', (deadline) => () => deadline.bound(() => services.head()));
  share('ports', (deadline) =>
    Object.assign(Object.create(ports) as object, {
      aggregates: loader(deadline),
      claimHolder: (...given: Parameters<typeof ports.claimHolder>) =>
        deadline.bound(() => ports.claimHolder(...given)),
    }),
  );
  return (deadline) => Object.assign(Object.create(view) as typeof view, { deadline });
}
