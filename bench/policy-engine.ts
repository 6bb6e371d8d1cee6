import type { EngineConfig, EnginePolicy, Encounter } from '../src/contexts/policies/domain/engine/encounter.ts';
import { decideByReference } from '../src/contexts/policies/domain/engine/reference-engine.ts';
import { PolicyEngine } from '../src/contexts/policies/domain/engine/policy-engine.ts';
import { conditions, ruleActions, type Rule } from '../src/contexts/policies/domain/events.ts';
import { alternate, compare, perSecond, type Row } from './measure.ts';

const RULES_A_POLICY = 100;
const ROUNDS = 5;

/** Of a hundred rules two are regular expressions, about a third wildcards, the rest whole hosts: a typical mix. */
function ruleOf(n: number): Rule {
  const common = { condition: conditions[n % conditions.length]!, action: ruleActions[n % 3]! };
  if (n % 50 === 49)
    return { ...common, domainMatch: { type: 'regex', value: `(?:login|sso)-${n}\\.[a-z]+\\.example` } };
  return {
    ...common,
    domainMatch:
      n % 3 === 0
        ? { type: 'wildcard', value: `*.tenant-${n}.example` }
        : { type: 'exact', value: `host-${n}.example` },
  };
}

function configOf(rules: number): EngineConfig {
  const all = Array.from({ length: rules }, (_, n) => ruleOf(n));
  const policies = Array.from({ length: Math.ceil(rules / RULES_A_POLICY) }, (_, n): EnginePolicy => ({
    id: String(n).padStart(6, '0'),
    name: `Policy ${n}`,
    priority: n,
    createdAt: '',
    isEnabled: true,
    groupIds: [],
    rules: all.slice(n * RULES_A_POLICY, (n + 1) * RULES_A_POLICY),
  }));
  return { mode: 'block', policies, domainScope: [], phishingWhitelist: [] };
}

/** Half of the hosts are in some rule, half in none; signals vary. */
const encountersOf = (rules: number): Encounter[] =>
  Array.from({ length: 64 }, (_, n) => {
    const at = (n * 7_919) % rules;
    const host = n % 2 ? `elsewhere-${n}.example` : at % 3 === 0 ? `a.b.tenant-${at}.example` : `host-${at}.example`;
    return { host, signals: conditions.filter((_condition, index) => (n >> (index % 6)) & 1) };
  });

async function measured(rules: number): Promise<Row> {
  const config = configOf(rules);
  const engine = new PolicyEngine(config);
  const encounters = encountersOf(rules);
  for (const met of encounters) {
    if (JSON.stringify(engine.decide(met)) !== JSON.stringify(decideByReference(config, met)))
      throw new Error('the two engines disagree');
  }
  const side = (times: number, decide: (met: Encounter) => unknown) => () =>
    perSecond(times, async () => {
      for (let n = 0; n < times; n += 1) decide(encounters[n % encounters.length]!);
    });
  const [ours, naive] = await alternate(ROUNDS, [
    side(Math.max(2_000, 4_000_000 / rules), (met) => engine.decide(met)),
    side(Math.max(200, 200_000 / rules), (met) => decideByReference(config, met)),
  ]);
  const target = rules >= 1_000 ? '>= 3' : '>= 0.5';
  return compare(
    `policy decisions with ${rules.toLocaleString('en')} rules, one core`,
    '/s',
    target,
    ours!,
    naive!,
    'one rule after the other',
  );
}

/** The indexed engine compared with a plain scan over the same rules; both evaluate all regular expressions. */
export async function measure(): Promise<Row[]> {
  return [await measured(10), await measured(1_000), await measured(10_000)];
}
