import { describe, expect, it } from 'vitest';
import { patternFault } from '../../../src/platform/patterns/linear-pattern.ts';

describe('a pattern that can be matched in linear time', () => {
  it.each([
    'example\\.com',
    '(?:login|sso)\\.example\\.(?:com|net)',
    '(?<host>[a-z0-9-]+)\\.example\\.com',
    '[\\w.-]+',
    '[^.]{1,63}\\.example\\.com',
    '.*',
    '\\p{L}+\\.example',
    'a{1000}',
    '(a|b)*c+?d??',
    '\\(\\?=literal\\)',
    '[(?=x)]',
    '\\\\1',
    '(a{10}b){100}',
  ])('is %s', (pattern) => {
    expect(patternFault(pattern)).toBeUndefined();
  });

  it.each([
    ['(', 'is not a regular expression'],
    ['[z-a]', 'is not a regular expression'],
    ['a**', 'is not a regular expression'],
    ['a{2,1}', 'is not a regular expression'],
    ['\\y', 'is not a regular expression'],
    ['(a)\\1', 'must not use backreferences'],
    ['(?<name>a)\\k<name>', 'must not use backreferences'],
    ['(?=a)b', 'must not use lookahead or lookbehind'],
    ['(?!a)b', 'must not use lookahead or lookbehind'],
    ['x(?<=a)b', 'must not use lookahead or lookbehind'],
    ['x(?<!a)b', 'must not use lookahead or lookbehind'],
    ['[^]', 'uses syntax that RE2 does not support'],
    ['[]', 'uses syntax that RE2 does not support'],
    ['\\u0061', 'uses syntax that RE2 does not support'],
    ['[\\u0061]', 'uses syntax that RE2 does not support'],
    ['\\cJ', 'uses syntax that RE2 does not support'],
    ['a{1001}', 'must not repeat more than 1000 times'],
    ['a{1,2000}', 'must not repeat more than 1000 times'],
    ['(a{100}b){11}', 'must not repeat more than 1000 times'],
    ['((a{10}){10}|b){11}', 'must not repeat more than 1000 times'],
    ['(?:x(?:y[z]{50}))+(a(b{600})){2}', 'must not repeat more than 1000 times'],
    ['a{1000}b{1000}c', 'must not expand to more than 2000 parts with all repetitions'],
    ['(?:abcd|e){500}', 'must not expand to more than 2000 parts with all repetitions'],
  ])('is not %s, which %s', (pattern, fault) => {
    expect(patternFault(pattern)).toBe(fault);
  });
});
