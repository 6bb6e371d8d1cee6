import { describe, expect, it } from 'vitest';
import { newPolicy, policyChanges } from '../../../src/contexts/policies/domain/policy-content.ts';

const rule = (type: string, value: string) => ({ domainMatch: { type, value }, condition: 'any', action: 'block' });
const policy = (over: object = {}) => ({ name: 'Shadow IT', rules: [rule('wildcard', '*')], ...over });
const matchOf = (type: string, value: string) =>
  newPolicy.safeParse(policy({ rules: [rule(type, value)] })).data?.rules[0]?.domainMatch.value;

describe('the content of a policy', () => {
  it('has defaults for all but its name and its rules', () => {
    expect(newPolicy.parse(policy())).toMatchObject({ description: '', priority: 100, isEnabled: true, groupIds: [] });
    expect(newPolicy.safeParse({ name: 'No rules' }).success).toBe(false);
    expect(newPolicy.safeParse({ rules: [rule('wildcard', '*')] }).success).toBe(false);
  });

  it('has 1 to 100 rules', () => {
    const many = (length: number) =>
      newPolicy.safeParse(policy({ rules: Array.from({ length }, () => rule('wildcard', '*')) })).success;
    expect([many(0), many(1), many(100), many(101)]).toEqual([false, true, true, false]);
  });

  it('stays within its limits', () => {
    for (const over of [
      { priority: -1 },
      { priority: 10_001 },
      { priority: 1.5 },
      { priority: '1' },
      { name: ' ' },
      { name: 'x'.repeat(201) },
      { isEnabled: 'true' },
      { groupIds: ['nonsense'] },
    ]) {
      expect([over, newPolicy.safeParse(policy(over)).success]).toEqual([over, false]);
    }
    expect(newPolicy.safeParse(policy({ priority: 0, name: 'x'.repeat(200) })).success).toBe(true);
  });

  it('accepts no other match, condition or action', () => {
    for (const broken of [
      { ...rule('glob', '*') },
      { ...rule('wildcard', '*'), condition: 'hunch' },
      { ...rule('wildcard', '*'), action: 'delete' },
    ]) {
      expect(newPolicy.safeParse(policy({ rules: [broken] })).success).toBe(false);
    }
  });

  it('is kept if a change omits it: defaults do not apply', () => {
    expect(policyChanges.parse({ priority: 7, unknownField: 1 })).toEqual({ priority: 7 });
    expect(policyChanges.parse({})).toEqual({});
    expect(policyChanges.safeParse({ rules: [] }).success).toBe(false);
  });
});

describe('a domain match', () => {
  it('normalizes hosts: lower case, punycode, no trailing dot', () => {
    expect(matchOf('exact', 'Login.EXAMPLE.com.')).toBe('login.example.com');
    expect(matchOf('exact', 'bücher.example')).toBe('xn--bcher-kva.example');
    expect(matchOf('wildcard', '*.Bücher.example')).toBe('*.xn--bcher-kva.example');
    expect(matchOf('wildcard', '*')).toBe('*');
    expect(matchOf('exact', 'intranet')).toBe('intranet');
  });

  it('rejects invalid hosts, and wildcards anywhere but in front', () => {
    for (const value of ['https://example.com', 'example.com/path', 'a b', '*.example.com', '..', 'x'.repeat(300)])
      expect([value, matchOf('exact', value)]).toEqual([value, undefined]);
    for (const value of ['example.com', '**', 'a.*.com', '*example.com', '*.', '*.*.com'])
      expect([value, matchOf('wildcard', value)]).toEqual([value, undefined]);
  });

  it('accepts linear regular expressions of up to 512 characters, unchanged', () => {
    expect(matchOf('regex', '(?:[a-z]+\\.)*Example\\.com')).toBe('(?:[a-z]+\\.)*Example\\.com');
    expect(matchOf('regex', `${'a'.repeat(512)}`)).toBe('a'.repeat(512));
    expect(matchOf('regex', `${'a'.repeat(513)}`)).toBeUndefined();
    expect(matchOf('regex', '(a)\\1')).toBeUndefined();
    expect(matchOf('regex', '(')).toBeUndefined();
  });
});
