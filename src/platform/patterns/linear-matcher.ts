import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';

/** Longer ones are refused where they are written (choice OP-108); here it keeps memory bounded whoever calls. */
export const MAX_PATTERN_CHARACTERS = 512;
const MAX_REMEMBERED = 2_000;

export type Matcher = (text: string) => boolean;
const remembered = new LRUCache<string, Matcher>({ max: MAX_REMEMBERED });

/**
 * A regular expression as RE2 reads it, for whole texts. Matching takes time linear to the text, whatever the pattern is.
 * Throws for what `patternFault` finds fault with.
 */
export function linearMatcher(pattern: string): Matcher {
  const known = remembered.get(pattern);
  if (known) return known;
  if (pattern.length > MAX_PATTERN_CHARACTERS) throw new RangeError('the pattern is too long');
  const compiled = RE2JS.compile(pattern);
  const matches: Matcher = (text) => compiled.testExact(text);
  remembered.set(pattern, matches);
  return matches;
}
