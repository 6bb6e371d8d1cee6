import type {
  PolicyAction,
  PolicyCondition,
  PolicyDecision,
  EngineConfig,
  EnginePolicy,
  Encounter,
  EngineMode,
} from './encounter.ts';
import { coversHost } from './host.ts';

/** A new site may have a rule, but is not a risk by itself. */
const NO_RISK: ReadonlySet<PolicyCondition> = new Set(['any', 'new_site']);

/** The signals that count: a listed domain raises no phishing signal (choice OP-115), and `any` is not a signal. */
export const signalsOf = ({ phishingWhitelist }: EngineConfig, { host, signals }: Encounter): PolicyCondition[] => {
  const isListed = () => phishingWhitelist.some(({ domain }) => coversHost(domain, host));
  return signals.filter((signal) => signal !== 'any' && !(signal === 'phishing_signal' && isListed()));
};

/** The longest matching entry is the most specific one and decides. */
export function isExcluded({ domainScope }: EngineConfig, host: string): boolean {
  let closest: { domain: string; scope: string } | undefined;
  for (const entry of domainScope) {
    if (coversHost(entry.domain, host, entry.includeSubdomains) && entry.domain.length > (closest?.domain.length ?? 0))
      closest = entry;
  }
  return closest?.scope === 'excluded';
}

/**
 * Applies the mode (choice OP-110): learning never acts; a rule acts as written; a risk without a rule gets the mode's
 * action.
 */
export const decidedBy = (mode: EngineMode, policy: EnginePolicy, index: number): PolicyDecision => {
  const { action, message } = policy.rules[index]!;
  return {
    matched: true,
    effectiveAction: mode === 'learning' ? 'allow' : action,
    policyAction: action,
    matchedPolicyId: policy.id,
    matchedPolicyName: policy.name,
    matchedRuleIndex: index,
    message: message ?? null,
    extensionMode: mode,
    reason: 'rule',
  };
};

const unmatched = (
  extensionMode: EngineMode,
  effectiveAction: PolicyAction,
  reason: PolicyDecision['reason'],
): PolicyDecision => ({
  matched: false,
  effectiveAction,
  policyAction: null,
  matchedPolicyId: null,
  matchedPolicyName: null,
  matchedRuleIndex: null,
  message: null,
  extensionMode,
  reason,
});

export const excluded = (mode: EngineMode): PolicyDecision => unmatched(mode, 'allow', 'excluded_domain');

export function decidedByMode(mode: EngineMode, signals: readonly PolicyCondition[]): PolicyDecision {
  if (!signals.some((signal) => !NO_RISK.has(signal))) return unmatched(mode, 'allow', 'no_signal');
  return unmatched(mode, mode === 'learning' ? 'allow' : mode, 'mode');
}
