import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';

/** Longer patterns are refused on input (OP-108). Checked again here to bound memory for every caller. */
export const MAX_PATTERN_CHARACTERS = 512;
const MAX_CACHED = 2_000;

export type Matcher = (text: string) => boolean;
const matchers = new LRUCache<string, Matcher>({ max: MAX_CACHED });

/**
 * A matcher for whole texts, with RE2 syntax. Matching takes time linear to the text, whatever the pattern is. Throws
 * for a pattern that `patternFault` refuses.
 */
export function linearMatcher(pattern: string): Matcher {
  const known = matchers.get(pattern);
  if (known) return known;
  if (pattern.length > MAX_PATTERN_CHARACTERS) throw new RangeError('the pattern is too long');
  const compiled = RE2JS.compile(pattern);
  const matches: Matcher = (text) => compiled.testExact(text);
  matchers.set(pattern, matches);
  return matches;
}
