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
  /** Empty: it applies to everyone (choice OP-113). */
  readonly groupIds: readonly string[];
  readonly rules: readonly Rule[];
}

/** All tenant data that a decision depends on: the content of `GET /api/v1/ext/policies`. */
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

/** A page on which something is about to be entered, and the signals recognized on it. */
export interface Encounter {
  /** Normalized by `canonicalHost`. */
  readonly host: string;
  readonly signals: readonly PolicyCondition[];
  /** Groups of the person who uses the browser. */
  readonly groupIds?: readonly string[];
}

/** The reason for the decision: a rule, the tenant's mode, no signal, or an excluded domain. */
export type PolicyDecisionReason = 'rule' | 'mode' | 'no_signal' | 'excluded_domain';

export interface PolicyDecision {
  readonly matched: boolean;
  readonly effectiveAction: PolicyAction;
  /** The rule's action, even if the mode prevents it. */
  readonly policyAction: PolicyAction | null;
  readonly matchedPolicyId: string | null;
  readonly matchedPolicyName: string | null;
  readonly matchedRuleIndex: number | null;
  readonly message: string | null;
  readonly extensionMode: EngineMode;
  readonly reason: PolicyDecisionReason;
}

/** The order of evaluation (choice OP-109): priority, then age, then id. Drafts keep their given place. */
export const byPrecedence = (policies: readonly EnginePolicy[]): EnginePolicy[] =>
  policies
    .filter(({ isEnabled }) => isEnabled)
    .sort((a, b) => a.priority - b.priority || compare(a.createdAt, b.createdAt) || compare(a.id ?? '', b.id ?? ''));

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
