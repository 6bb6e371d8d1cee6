import { Batcher } from '../database/batcher.ts';
import type { Position } from '../kernel/event.ts';
import type { CatchUpSubscription } from './catch-up-subscription.ts';
import type { Checkpoint } from './checkpoint-move.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { Backlog, TenantBacklogs } from './tenant-backlogs.ts';

/** What the lease of a reaction starts with. */
export interface LeaseStart {
  readonly backlogs: readonly Backlog[];
  readonly hasParked: boolean;
  /** The end of the log after the lease was acquired: earlier effects may have run under another lease. */
  readonly head: Position;
}

export interface LeaseStartServices {
  readonly backlogs: Pick<TenantBacklogs, 'ofEach'>;
  readonly deadLetters: Pick<DeadLetters, 'haveAny'>;
  readonly subscription: Pick<CatchUpSubscription, 'readHead'>;
}

/** A process acquires dozens of leases in one turn of the event loop: what they start with takes three statements. */
export class LeaseStarts {
  readonly #services: LeaseStartServices;
  readonly #batches = new Batcher((_: 'all', acquired: readonly Checkpoint[]) => this.#ofEach(acquired));

  constructor(services: LeaseStartServices) {
    this.#services = services;
  }

  of(acquired: Checkpoint): Promise<LeaseStart> {
    return this.#batches.load('all', acquired);
  }

  async #ofEach(acquired: readonly Checkpoint[]): Promise<LeaseStart[]> {
    const [backlogs, parked, head] = await Promise.all([
      this.#services.backlogs.ofEach(acquired),
      this.#services.deadLetters.haveAny(acquired),
      this.#services.subscription.readHead(),
    ]);
    return acquired.map((_, at) => ({ backlogs: backlogs[at]!, hasParked: parked[at]!, head }));
  }
}
