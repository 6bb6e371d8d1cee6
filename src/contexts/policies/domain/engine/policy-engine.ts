import { decidedBy, decidedByMode, excluded, isExcluded, signalsOf } from './baseline.ts';
import {
  byPrecedence,
  type PolicyCondition,
  type PolicyDecision,
  type Encounter,
  type EngineConfig,
  type EnginePolicy,
} from './encounter.ts';
import { hostMatches } from './host-matches.ts';
import { RuleIndex } from './rule-index.ts';

/** A rule that matched the host, and why it decided or not. */
export interface ConsideredRule {
  readonly policyId: string | null;
  readonly policyName: string;
  readonly ruleIndex: number;
  readonly outcome: 'decided' | 'no_such_signal' | 'other_group';
}

export interface DecisionTrace {
  /** Reported signals that were ignored: phishing on a listed domain. */
  readonly ignoredSignals: readonly PolicyCondition[];
  /** In the order of evaluation, up to the deciding rule; at most `MAX_CONSIDERED`. */
  readonly considered: readonly ConsideredRule[];
}

const MAX_CONSIDERED = 50;

/**
 * Decides what a browser does about an encounter. Pure and without server-only dependencies: server and extensions run
 * the same module. `docs/policy-engine/vectors.json` verifies that they decide alike.
 */
export class PolicyEngine {
  readonly #config: EngineConfig;
  readonly #ordered: readonly EnginePolicy[];
  readonly #index: RuleIndex;

  constructor(config: EngineConfig) {
    this.#config = config;
    this.#ordered = byPrecedence(config.policies);
    this.#index = new RuleIndex(this.#ordered);
  }

  decide(encounter: Encounter): PolicyDecision {
    const { mode } = this.#config;
    if (isExcluded(this.#config, encounter.host)) return excluded(mode);
    const signals = signalsOf(this.#config, encounter);
    const found = this.#index.first(encounter.host, { signals: new Set(signals), groupIds: encounter.groupIds ?? [] });
    return found ? decidedBy(mode, found.policy, found.index) : decidedByMode(mode, signals);
  }

  /** Explains the result of `decide`: evaluates the rules one by one. For people, not for the hot path. */
  trace(encounter: Encounter): DecisionTrace {
    const signals = signalsOf(this.#config, encounter);
    const ignoredSignals = encounter.signals.filter((signal) => signal !== 'any' && !signals.includes(signal));
    return {
      ignoredSignals,
      considered: isExcluded(this.#config, encounter.host) ? [] : this.#considered(encounter, signals),
    };
  }

  #considered({ host, groupIds = [] }: Encounter, signals: readonly PolicyCondition[]): ConsideredRule[] {
    const considered: ConsideredRule[] = [];
    for (const { id: policyId, name: policyName, groupIds: reached, rules } of this.#ordered) {
      const isReached = reached.length === 0 || groupIds.some((id) => reached.includes(id));
      for (const [ruleIndex, rule] of rules.entries()) {
        if (!hostMatches(rule.domainMatch, host)) continue;
        const hasSignal = rule.condition === 'any' || signals.includes(rule.condition);
        const outcome = !isReached ? 'other_group' : hasSignal ? 'decided' : 'no_such_signal';
        considered.push({ policyId, policyName, ruleIndex, outcome });
        if (outcome === 'decided' || considered.length === MAX_CONSIDERED) return considered;
      }
    }
    return considered;
  }
}
