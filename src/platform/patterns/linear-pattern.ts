import { RE2JS } from 're2js';
import { MAX_PATTERN_CHARACTERS } from './linear-matcher.ts';

/** RE2's limit for counted repetitions multiplied, nested ones included. */
const MAX_REPETITIONS = 1_000;
/**
 * The limit of parts with all repetitions expanded. It bounds compile time and memory, which the pattern's length
 * does not.
 */
const MAX_PARTS = 2_000;

/**
 * Checks for a regular expression that can be matched in time linear to the text. Allowed is what RE2 and ECMAScript
 * have in common, so that the service and the extensions interpret it alike: no lookaround, no backreference
 * (OP-108). Returns the fault, or undefined.
 */
export function patternFault(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN_CHARACTERS) return `must be at most ${MAX_PATTERN_CHARACTERS} characters long`;
  if (!compiles(pattern)) return 'is not a regular expression';
  const repetitions = [1];
  let last = 1;
  for (const [token] of pattern.matchAll(TOKENS)) {
    const fault = tokenFault(token);
    if (fault) return fault;
    if (token.startsWith('(')) repetitions.push((last = 1));
    else if (token === ')') last = repetitions.pop() ?? 1;
    else if (/^\{\d/.test(token)) last *= Math.max(...token.match(/\d+/g)!.map(Number));
    else if (!QUANTIFIER.test(token)) last = 1;
    if (last > MAX_REPETITIONS) return `must not repeat more than ${MAX_REPETITIONS} times`;
    repetitions.push(Math.max(repetitions.pop() ?? 1, last));
  }
  if (partsOf(pattern) > MAX_PARTS) return `must not expand to more than ${MAX_PARTS} parts with all repetitions`;
  return knownToRe2(pattern) ? undefined : 'uses syntax that RE2 does not support';
}

/** Syntax that a linear matcher cannot support, or that RE2 interprets differently. */
function tokenFault(token: string): string | undefined {
  if (/^\\[1-9k]/.test(token)) return 'must not use backreferences';
  if (/^\((?:\?<?[=!])/.test(token)) return 'must not use lookahead or lookbehind';
  return UNSHARED.test(token) ? 'uses syntax that RE2 does not support' : undefined;
}

/** Counts characters, classes and escapes, each multiplied by its surrounding repetitions. */
function partsOf(pattern: string): number {
  const open = [0];
  let last = 0;
  for (const [token] of pattern.matchAll(TOKENS)) {
    const inner = open.length - 1;
    if (token.startsWith('(')) open.push((last = 0));
    else if (token === ')')
      open[Math.max(0, inner - 1)] = (open[inner - 1] ?? 0) + (last = inner > 0 ? open.pop()! : 0);
    else if (/^\{\d/.test(token)) open[inner]! += last * (Math.max(...token.match(/\d+/g)!.map(Number)) - 1);
    else if (!QUANTIFIER.test(token)) open[inner]! += last = 1;
  }
  return open.reduce((sum, parts) => sum + parts, 0);
}

function compiles(pattern: string): boolean {
  try {
    return Boolean(new RegExp(pattern, 'u'));
  } catch {
    return false;
  }
}

/** Detects other differences, which tokens do not show (character properties, program sizes). */
function knownToRe2(pattern: string): boolean {
  try {
    return Boolean(RE2JS.compile(pattern));
  } catch {
    return false;
  }
}

/**
 * An escape, a class, the start of a group, a counted repetition, or one character. In Unicode mode this is
 * unambiguous.
 */
const TOKENS = /\\[pPu]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:<[=!]|[:=!]|<\w+>))?|\{\d+(?:,\d*)?\}|[^]/gu;
const QUANTIFIER = /^[*+?]$/;
/** Code points and control characters by escape, empty classes, and such escapes inside classes. */
const UNSHARED = /^\\[uc]|^\[\^?\]|^\[.*\\[uc].*\]$/s;
