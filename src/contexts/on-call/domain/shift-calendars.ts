import { LRUCache } from 'lru-cache';
import { ShiftBoundaries, type HandoffPlan } from './shift-boundaries.ts';

/** At some 8 KiB each: 8 MiB. Equal plans count once. */
const MAX_PLANS = 1_000;

/**
 * The handoffs of all plans that were asked about lately. Derived from the plans alone: equal plans of several schedules
 * and tenants share theirs, and nothing has to be invalidated.
 */
export class ShiftCalendars {
  readonly #plans = new LRUCache<string, ShiftBoundaries>({ max: MAX_PLANS });

  of(plan: HandoffPlan): ShiftBoundaries {
    const name = `${plan.timezone} ${plan.startDate} ${plan.handoffTime} ${plan.days}`;
    let boundaries = this.#plans.get(name);
    if (!boundaries) this.#plans.set(name, (boundaries = new ShiftBoundaries(plan)));
    return boundaries;
  }
}
