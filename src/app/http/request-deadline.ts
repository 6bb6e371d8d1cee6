import { EventStoreUnavailable } from '../../platform/eventstore/port.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { Lookups } from '../../contexts/identity/lookups.ts';
import type { Position } from '../../platform/kernel/event.ts';

/** Milliseconds, equal to the statement timeout of the database (decision 0017). */
export const REQUEST_MS = 10_000;
/** Milliseconds for bulk requests, which make many changes one after another. */
export const BULK_MS = 120_000;

/**
 * A time budget for all event store calls of one request. It starts with the first call, because earlier waiting is not the
 * store's fault.
 */
export class RequestDeadline {
  readonly #totalMs: number;
  #timer: NodeJS.Timeout | undefined;
  #endsAt = Number.POSITIVE_INFINITY;
  #isOver = false;
  readonly #underWay = new Set<(error: Error) => void>();

  constructor(totalMs: number) {
    this.#totalMs = totalMs;
  }

  /**
   * The call gets the moment of `performance.now()` from which on its result reaches nobody. It may append until then, and the
   * request may not learn of it, as after any lost reply.
   */
  bound<T>(call: (until: number) => Promise<T>): Promise<T> {
    if (this.#isOver) return Promise.reject(overdue());
    // One timer per request is cheaper than one per call.
    if (this.#timer === undefined) {
      this.#timer = setTimeout(() => this.expire(), this.#totalMs).unref();
      this.#endsAt = performance.now() + this.#totalMs;
    }
    return new Promise<T>((resolve, reject) => {
      this.#underWay.add(reject);
      const settled = () => this.#underWay.delete(reject);
      call(this.#endsAt).then(resolve, reject).then(settled, settled);
    });
  }

  /** Restarts the budget after the request waited for its tenant's slot. */
  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Call this when the response was sent. */
  end(): void {
    clearTimeout(this.#timer);
  }

  /** The request is given up: calls under way are no longer waited for, and no further one begins. */
  expire(): void {
    this.#isOver = true;
    for (const reject of this.#underWay) reject(overdue());
  }
}

const overdue = (): EventStoreUnavailable =>
  new EventStoreUnavailable('the event store did not respond within the time limit of the request');

type Asynchronous = Record<string, (...given: never[]) => Promise<unknown>>;

/** The same object with these methods bound to a deadline. Do not call its other methods through the result. */
function bounded<T extends object>(target: T, deadline: RequestDeadline, names: readonly (keyof T & string)[]): T {
  const methods = target as unknown as Asynchronous;
  const own = names.map((name) => [name, (...given: never[]) => deadline.bound(() => methods[name]!(...given))]);
  return Object.assign(Object.create(target) as T, Object.fromEntries(own));
}

type Commands = Executor<CommandPorts>;

/** What a request has given up must not happen later. */
function boundedExecutor(executor: Commands, deadline: RequestDeadline): Commands {
  const others = bounded(executor, deadline, ['recall', 'refusalOf', 'claimHolder']);
  const execute: Commands['execute'] = (command, input, execution) =>
    deadline.bound((until) => executor.execute(command, input, { ...execution, until }));
  const executeAll: Commands['executeAll'] = (command, inputs, execution, commandIdOf) =>
    deadline.bound((until) => executor.executeAll(command, inputs, { ...execution, until }, commandIdOf));
  return Object.assign(others, { execute, executeAll });
}

/** Services that call the event store for a request. */
export interface DeadlineDependencies {
  readonly loader: AggregateLoader;
  readonly executor: Executor<CommandPorts>;
  readonly lookups: Lookups;
  readonly ports: CommandPorts;
  head(): Promise<Position>;
}

/**
 * The services of one request, whose event store calls share one deadline. Costs one object per request and used service.
 * (An `AsyncLocalStorage` would slow down every promise of the process.)
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
        const value = make(this.deadline);
        // Authentication alone asks several times.
        Object.defineProperty(this, name, { value });
        return value;
      },
    });
  share('loader', loader);
  share('executor', (deadline) => boundedExecutor(services.executor, deadline));
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
