import type { Rule } from '../events.ts';

export type PolicyCondition = Rule['condition'];
export type PolicyAction = Rule['action'];
export type EngineMode = 'learning' | 'warn' | 'block';

export interface EnginePolicy {
  /** Null: a draft that is not stored. */
  readonly id: string | null;
  readonly name: string;
  readonly priority: number;
  readonly createdAt: string;
  readonly isEnabled: boolean;
  /** Empty: it reaches everybody (choice OP-113). */
  readonly groupIds: readonly string[];
  readonly rules: readonly Rule[];
}

/** Everything of a tenant that a decision rests on: what `GET /api/v1/ext/policies` tells. */
export interface EngineConfig {
  readonly mode: EngineMode;
  readonly policies: readonly EnginePolicy[];
  readonly domainScope: readonly {
    readonly domain: string;
    readonly scope: 'corporate' | 'excluded';
    readonly includeSubdomains: boolean;
  }[];
  readonly phishingWhitelist: readonly { readonly domain: string }[];
}

/** A page on which something is about to be entered, and what was recognized about it. */
export interface Encounter {
  /** In the one spelling: `canonicalHost`. */
  readonly host: string;
  readonly signals: readonly PolicyCondition[];
  /** Of the person before the browser. */
  readonly groupIds?: readonly string[];
}

/** Why it was decided so: a rule, the tenant's mode, no reason for anything, or a domain that extensions leave alone. */
export type PolicyDecisionReason = 'rule' | 'mode' | 'no_signal' | 'excluded_domain';

export interface PolicyDecision {
  readonly matched: boolean;
  readonly effectiveAction: PolicyAction;
  /** What the rule says, also where the mode does not let it act. */
  readonly policyAction: PolicyAction | null;
  readonly matchedPolicyId: string | null;
  readonly matchedPolicyName: string | null;
  readonly matchedRuleIndex: number | null;
  readonly message: string | null;
  readonly extensionMode: EngineMode;
  readonly reason: PolicyDecisionReason;
}

/** The order of evaluation (choice OP-109): priority, then age, then id; drafts stand where they are put. */
export const byPrecedence = (policies: readonly EnginePolicy[]): EnginePolicy[] =>
  policies
    .filter(({ isEnabled }) => isEnabled)
    .sort((a, b) => a.priority - b.priority || compare(a.createdAt, b.createdAt) || compare(a.id ?? '', b.id ?? ''));

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
