import { linearMatcher } from '../../../../platform/patterns/linear-matcher.ts';
import type { Rule } from '../events.ts';
import type { PolicyCondition, EnginePolicy } from './encounter.ts';

/** One rule and its position in the order of evaluation. */
export interface PlacedRule {
  readonly place: number;
  readonly policy: EnginePolicy;
  /** Position within its policy. */
  readonly index: number;
  readonly rule: Rule;
  readonly groups: ReadonlySet<string> | undefined;
}

export interface Circumstances {
  readonly signals: ReadonlySet<PolicyCondition>;
  readonly groupIds: readonly string[];
}

type ByHost = Map<string, PlacedRule[]>;

/**
 * Indexes rules by what they match. Hosts and suffixes are looked up; only regular expressions are tried one by one.
 * All lists are in the order of evaluation.
 */
export class RuleIndex {
  readonly #exact: ByHost = new Map();
  /** Wildcards: `*.example.com` is stored under `example.com`. */
  readonly #below: ByHost = new Map();
  readonly #everywhere: PlacedRule[] = [];
  readonly #patterns: PlacedRule[] = [];

  /** `policies` must be in the order of evaluation. */
  constructor(policies: readonly EnginePolicy[]) {
    let place = 0;
    for (const policy of policies) {
      const groups = policy.groupIds.length > 0 ? new Set(policy.groupIds) : undefined;
      for (const [index, rule] of policy.rules.entries()) this.#add({ place: place++, policy, index, rule, groups });
    }
  }

  #add(placed: PlacedRule): void {
    const { type, value } = placed.rule.domainMatch;
    if (type === 'regex') this.#patterns.push(placed);
    else if (value === '*') this.#everywhere.push(placed);
    else if (type === 'wildcard') addTo(this.#below, value.slice(2), placed);
    else addTo(this.#exact, value, placed);
  }

  /** The first rule that matches the host and applies. */
  first(host: string, circumstances: Circumstances): PlacedRule | undefined {
    let best = firstOf(this.#exact.get(host), circumstances, undefined);
    best = firstOf(this.#everywhere, circumstances, best);
    for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) {
      best = firstOf(this.#below.get(host.slice(dot + 1)), circumstances, best);
    }
    for (const placed of this.#patterns) {
      if (best && placed.place > best.place) break;
      if (ruleApplies(placed, circumstances) && linearMatcher(placed.rule.domainMatch.value)(host)) return placed;
    }
    return best;
  }
}

function addTo(index: ByHost, host: string, placed: PlacedRule): void {
  const known = index.get(host);
  if (known) known.push(placed);
  else index.set(host, [placed]);
}

function firstOf(
  placed: readonly PlacedRule[] = [],
  circumstances: Circumstances,
  best: PlacedRule | undefined,
): PlacedRule | undefined {
  for (const one of placed) {
    if (best && one.place > best.place) return best;
    if (ruleApplies(one, circumstances)) return one;
  }
  return best;
}

export const ruleApplies = (
  { rule: { condition }, groups }: PlacedRule,
  { signals, groupIds }: Circumstances,
): boolean => (condition === 'any' || signals.has(condition)) && (!groups || groupIds.some((id) => groups.has(id)));
