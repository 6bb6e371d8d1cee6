import { describe, expect, it } from 'vitest';
import { linearMatcher } from '../../../src/platform/patterns/linear-matcher.ts';
import { patternFault } from '../../../src/platform/patterns/linear-pattern.ts';

const LONG = 30_000;
/**
 * Patterns that take a backtracking matcher years: [pattern, what repeats, what spoils it at the end, matches without
 * it].
 */
const corpus: readonly (readonly [pattern: string, repeated: string, spoiler: string, matchesUnspoiled: boolean])[] = [
  ['(a+)+', 'a', '!', true],
  ['(a*)*', 'a', '!', true],
  ['(a|a)*', 'a', '!', true],
  ['(a|aa)+', 'a', '!', true],
  ['(.*)*x', 'a', '', false],
  ['(.*a){20}', 'a', '!', true],
  ['([a-z]+)*\\.example', 'a', '', false],
  ['(?:\\w+\\.)*\\w+', 'a', '!', true],
  ['([a-zA-Z0-9]+\\.?)+', 'ab.', '!', true],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a', '', false],
  ['([-.\\w]*[0-9a-zA-Z])*@(([0-9a-zA-Z])+([-\\w]*[0-9a-zA-Z])*\\.)+[a-z]{2,9}', 'a', '!', false],
  ['(x+x+)+y', 'x', '', false],
  ['((a{1,10}){1,10}){1,10}', 'a', '', false],
  ['.*.*.*.*.*=.*', 'a', '', false],
  ['(?:(?:(?:a?)*)*)*b', 'a', '', false],
];

describe('patterns that hang a backtracking matcher', () => {
  it.each(corpus)('are matched correctly over a long text: %s', (pattern, repeated, spoiler, matchesUnspoiled) => {
    expect(patternFault(pattern)).toBeUndefined();
    const matches = linearMatcher(pattern);
    const text = repeated.repeat(LONG / repeated.length);
    expect(matches(text)).toBe(matchesUnspoiled);
    if (spoiler) expect(matches(text + spoiler)).toBe(false);
  });

  it('are rejected if compiling them would cost too much', () => {
    expect(patternFault('a'.repeat(513))).toBe('must be at most 512 characters long');
    expect(() => linearMatcher('a'.repeat(513))).toThrow(RangeError);
    expect(patternFault('((a{100}){100}){100}')).toBe('must not repeat more than 1000 times');
  });

  it.each(['a{0,1000}', '(?:ab?c*)+d', '[\\w-]+(?:\\.[\\w-]+)*', '\\p{Lu}\\P{Lu}*', '(?<a>x)|y'])(
    'mean the same in RE2 as in a browser: %s',
    (pattern) => {
      const native = new RegExp(`^(?:${pattern})$`, 'u');
      for (const text of ['', 'a', 'aaaa', 'acd', 'abcccd', 'a-b.c_d', 'Éa', 'éA', 'x', 'y', 'xy', 'A\n'])
        expect([text, linearMatcher(pattern)(text)]).toEqual([text, native.test(text)]);
    },
  );
});
