import { decidedBy, decidedByMode, excluded, isExcluded, signalsOf } from './baseline.ts';
import { byPrecedence, type PolicyDecision, type Encounter, type EngineConfig } from './encounter.ts';
import { hostMatches } from './host-matches.ts';

/** The evaluation rules as specified, one after the other. Tests compare the indexed engine with it. */
export function decideByReference(config: EngineConfig, encounter: Encounter): PolicyDecision {
  const { mode } = config;
  const { host, groupIds = [] } = encounter;
  if (isExcluded(config, host)) return excluded(mode);
  const signals = signalsOf(config, encounter);
  for (const policy of byPrecedence(config.policies)) {
    if (policy.groupIds.length > 0 && !policy.groupIds.some((id) => groupIds.includes(id))) continue;
    for (const [index, { condition, domainMatch }] of policy.rules.entries()) {
      if ((condition === 'any' || signals.includes(condition)) && hostMatches(domainMatch, host))
        return decidedBy(mode, policy, index);
    }
  }
  return decidedByMode(mode, signals);
}
