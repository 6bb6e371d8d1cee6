import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type {
  PolicyCondition,
  EngineConfig,
  EnginePolicy,
} from '../../../src/contexts/policies/domain/engine/encounter.ts';
import { canonicalHost } from '../../../src/contexts/policies/domain/engine/host.ts';
import { decideByReference } from '../../../src/contexts/policies/domain/engine/reference-engine.ts';
import { PolicyEngine } from '../../../src/contexts/policies/domain/engine/policy-engine.ts';
import { conditions, ruleActions, type Rule } from '../../../src/contexts/policies/domain/events.ts';

interface Vector {
  readonly name: string;
  readonly config: EngineConfig;
  readonly encounter: {
    readonly domain: string;
    readonly signals: readonly PolicyCondition[];
    readonly groupIds: readonly string[];
  };
  readonly expected: Readonly<Record<string, unknown>>;
}
const { vectors } = JSON.parse(
  readFileSync(new URL('../../../docs/policy-engine/vectors.json', import.meta.url), 'utf8'),
) as { vectors: Vector[] };

describe('the policy engine', () => {
  it.each(vectors.map((vector) => [vector.name, vector] as const))(
    'decides as published: %s',
    (_name, { config, encounter, expected }) => {
      const asked = { ...encounter, host: canonicalHost(encounter.domain)! };
      expect(new PolicyEngine(config).decide(asked)).toMatchObject(expected);
      expect(decideByReference(config, asked)).toMatchObject(expected);
    },
  );

  it('names every published case once', () => {
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
    expect(vectors.length).toBeGreaterThan(50);
  });

  it('needs nothing that only a server has', () => {
    const root = new URL('../../../src/', import.meta.url);
    const files = [
      ...readdirSync(new URL('contexts/policies/domain/engine/', root)).map(
        (name) => `contexts/policies/domain/engine/${name}`,
      ),
      'platform/kernel/parsed-url.ts',
      'platform/patterns/linear-matcher.ts',
    ];
    const imported = files.flatMap((name) =>
      [...readFileSync(new URL(name, root), 'utf8').matchAll(/^import (?!type)[^;]* from '([^']+)';$/gm)].map(
        ([, from]) => from!,
      ),
    );
    expect([...new Set(imported.filter((from) => !from.startsWith('./')))].toSorted()).toEqual([
      '../../../../platform/kernel/parsed-url.ts',
      '../../../../platform/patterns/linear-matcher.ts',
      'lru-cache',
      're2js',
      'tldts',
    ]);
  });

  const label = fc.constantFrom('a', 'b', 'login', 'xn--mnchen-3ya', 'a-b', '1');
  const host = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => `${labels.join('.')}.example`);
  const pattern = fc.constantFrom(
    '.*',
    '[a-z]+\\.example',
    '(a|b)+\\.example',
    '(?:[a-z]+\\.)*login\\.example',
    'a.*',
    '(a+)+b',
    '[^.]+\\.example',
  );
  const domainMatch: fc.Arbitrary<Rule['domainMatch']> = fc.oneof(
    host.map((value) => ({ type: 'exact' as const, value })),
    host.map((value) => ({ type: 'wildcard' as const, value: `*.${value}` })),
    fc.constantFrom({ type: 'wildcard' as const, value: '*' }, { type: 'wildcard' as const, value: '*.example' }),
    pattern.map((value) => ({ type: 'regex' as const, value })),
  );
  const groups = fc.subarray(['g1', 'g2', 'g3']);
  const policy: fc.Arbitrary<EnginePolicy> = fc.record({
    id: fc.uuid(),
    name: fc.constant('p'),
    priority: fc.integer({ min: 0, max: 3 }),
    createdAt: fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'),
    isEnabled: fc.boolean(),
    groupIds: groups,
    rules: fc.array(
      fc.record({ domainMatch, condition: fc.constantFrom(...conditions), action: fc.constantFrom(...ruleActions) }),
      { minLength: 1, maxLength: 5 },
    ),
  });
  const config: fc.Arbitrary<EngineConfig> = fc.record({
    mode: fc.constantFrom('learning' as const, 'warn' as const, 'block' as const),
    policies: fc.array(policy, { maxLength: 8 }),
    domainScope: fc.array(
      fc.record({
        domain: host,
        scope: fc.constantFrom('corporate' as const, 'excluded' as const),
        includeSubdomains: fc.boolean(),
      }),
      { maxLength: 2 },
    ),
    phishingWhitelist: fc.array(fc.record({ domain: host }), { maxLength: 2 }),
  });
  const encounter = fc.record({ host, signals: fc.subarray([...conditions]), groupIds: groups });

  it('decides the same with its index as without, and its trace ends with the deciding rule', () => {
    fc.assert(
      fc.property(config, encounter, (tenant, met) => {
        const engine = new PolicyEngine(tenant);
        const decision = engine.decide(met);
        expect(decision).toEqual(decideByReference(tenant, met));
        const decided = engine.trace(met).considered.filter(({ outcome }) => outcome === 'decided');
        expect(decided.map(({ policyId, ruleIndex }) => [policyId, ruleIndex])).toEqual(
          decision.matched ? [[decision.matchedPolicyId, decision.matchedRuleIndex]] : [],
        );
        if (tenant.mode === 'learning') expect(decision.effectiveAction).toBe('allow');
      }),
      { numRuns: 500 },
    );
  });

  it('decides over ten thousand rules as without an index', () => {
    const policies = Array.from({ length: 100 }, (_, n): EnginePolicy => ({
      id: `p${String(n).padStart(3, '0')}`,
      name: `P${n}`,
      priority: n,
      createdAt: '2026-01-01T00:00:00.000Z',
      isEnabled: true,
      groupIds: [],
      rules: Array.from({ length: 100 }, (_unused, m) => ({
        domainMatch:
          m % 20 === 0
            ? { type: 'regex' as const, value: `r${n}-${m}-[0-9]+\\.example` }
            : m % 2
              ? { type: 'exact' as const, value: `h${n}-${m}.example` }
              : { type: 'wildcard' as const, value: `*.w${n}-${m}.example` },
        condition: conditions[(n + m) % conditions.length]!,
        action: ruleActions[m % 3]!,
      })),
    }));
    const tenant: EngineConfig = { mode: 'block', policies, domainScope: [], phishingWhitelist: [] };
    const engine = new PolicyEngine(tenant);
    for (const asked of ['h99-97.example', 'a.b.w50-42.example', 'r77-60-123.example', 'nothing.example']) {
      for (const signals of [[], [...conditions]]) {
        const met = { host: asked, signals };
        expect(engine.decide(met)).toEqual(decideByReference(tenant, met));
      }
    }
  });

  it('reports ignored signals and skipped rules', () => {
    const rules: Rule[] = [
      { domainMatch: { type: 'exact', value: 'a.example' }, condition: 'phishing_signal', action: 'block' },
      { domainMatch: { type: 'exact', value: 'a.example' }, condition: 'any', action: 'warn' },
    ];
    const stored = (id: string, groupIds: string[]): EnginePolicy => ({
      id,
      name: id,
      priority: 1,
      createdAt: '',
      isEnabled: true,
      groupIds,
      rules,
    });
    const engine = new PolicyEngine({
      mode: 'block',
      policies: [stored('1', ['g']), stored('2', [])],
      domainScope: [],
      phishingWhitelist: [{ domain: 'a.example' }],
    });
    const { ignoredSignals, considered } = engine.trace({ host: 'a.example', signals: ['phishing_signal'] });
    expect(ignoredSignals).toEqual(['phishing_signal']);
    expect(considered.map(({ policyId, ruleIndex, outcome }) => [policyId, ruleIndex, outcome])).toEqual([
      ['1', 0, 'other_group'],
      ['1', 1, 'other_group'],
      ['2', 0, 'no_such_signal'],
      ['2', 1, 'decided'],
    ]);
  });
});

describe('a host in a rule', () => {
  it.each([
    '',
    ' ',
    'a b',
    'https://a.example',
    'a.example/login',
    'a.example?x',
    'u@a.example',
    'a.example:80',
    '[::1',
    'a%41.example',
    `${'a.'.repeat(200)}example`,
  ])('is not %j', (text) => {
    expect(canonicalHost(text)).toBeUndefined();
  });
});
