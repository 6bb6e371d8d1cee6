import { LRUCache } from 'lru-cache';
import { byHost } from './domain/sightings.ts';
import type { Observation } from '../telemetry/domain/observation.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { ordinaryDays } from '../../platform/kernel/token-bucket.ts';
import type { ArrivalBudgets, BudgetRequest } from '../../platform/arrivals/arrival-budgets.ts';

/** Equals the number that the view of a host shows. */
export const MAX_TECHNOLOGIES_OF_HOST = 40;
/** Technologies per browser that are new for a host: fifty new pages a day. */
const NEW_OF_A_DEVICE = ordinaryDays(500);
const NEW_A_SEAT = 100;
const LEAST_NEW_OF_A_TENANT = 2_000;
/** Names cached in memory. */
const MAX_KNOWN = 200_000;

interface Reporter {
  readonly tenantId: TenantId;
  readonly deviceId: string;
  /** The number of licensed people of the tenant. */
  readonly seats: number;
}

/**
 * Bounds the rows that browsers add to the table of technologies. Technologies already known for a host are free.
 * Beyond the budget, an observation is kept without its new technologies. Nothing is lost for good: browsers report
 * technologies on every visit.
 */
export class TechnologyAllowance {
  readonly #budgets: Pick<ArrivalBudgets, 'take'>;
  /** Names by tenant and host. */
  readonly #known = new LRUCache<string, ReadonlySet<string>>({
    maxSize: MAX_KNOWN,
    sizeCalculation: (names) => names.size,
  });

  constructor(budgets: Pick<ArrivalBudgets, 'take'>) {
    this.#budgets = budgets;
  }

  /** The observations that may be recorded. Returns the same list if nothing is left out, which is nearly always. */
  async within(reporter: Reporter, observations: readonly Observation[]): Promise<readonly Observation[]> {
    const fresh = this.#fresh(reporter.tenantId, observations);
    if (fresh.allowed === 0 && !fresh.isTooMuch) return observations;
    const isGranted =
      fresh.allowed > 0 && (await this.#budgets.take(reporter.tenantId, costOf(reporter, fresh.allowed))) === 0;
    if (isGranted) for (const [host, names] of fresh.names) this.#learn(host, names);
    return isGranted && !fresh.isTooMuch
      ? observations
      : observations.map((one) => this.#withoutUnknown(reporter.tenantId, one));
  }

  #fresh(
    tenantId: TenantId,
    observations: readonly Observation[],
  ): { names: Map<string, Set<string>>; allowed: number; isTooMuch: boolean } {
    const names = new Map<string, Set<string>>();
    let [allowed, isTooMuch] = [0, false];
    for (const { domain, observations: there } of byHost(observations)) {
      const host = `${tenantId}/${domain}`;
      const known = this.#known.get(host);
      for (const name of namesIn(there)) {
        if (known?.has(name)) continue;
        let ofHost = names.get(host);
        if (!ofHost) names.set(host, (ofHost = new Set()));
        if (ofHost.has(name)) continue;
        if ((known?.size ?? 0) + ofHost.size >= MAX_TECHNOLOGIES_OF_HOST) isTooMuch = true;
        else {
          ofHost.add(name);
          allowed += 1;
        }
      }
    }
    return { names, allowed, isTooMuch };
  }

  #withoutUnknown(tenantId: TenantId, observation: Observation): Observation {
    if (observation.kind !== 'navigation' || observation.technologies.length === 0) return observation;
    const known = this.#known.get(`${tenantId}/${observation.domain}`);
    return { ...observation, technologies: observation.technologies.filter(({ name }) => known?.has(name)) };
  }

  #learn(host: string, names: ReadonlySet<string>): void {
    this.#known.set(host, new Set([...(this.#known.get(host) ?? []), ...names]));
  }
}

function* namesIn(observations: readonly Observation[]): Generator<string> {
  for (const one of observations) if (one.kind === 'navigation') for (const { name } of one.technologies) yield name;
}

const costOf = ({ deviceId, seats }: Reporter, amount: number): BudgetRequest[] => [
  { name: 'technologies', size: ordinaryDays(Math.max(LEAST_NEW_OF_A_TENANT, seats * NEW_A_SEAT)), amount },
  { name: `technologies/${deviceId}`, size: NEW_OF_A_DEVICE, amount },
];
