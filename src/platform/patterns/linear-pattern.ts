import { RE2JS } from 're2js';
import { MAX_PATTERN_CHARACTERS } from './linear-matcher.ts';

/** What RE2 allows a counted repetition to multiply up to, nested ones included. */
const MAX_REPETITIONS = 1_000;
/** What a pattern may come to with all its repetitions written out: compiling takes time and memory by that, not by its length. */
const MAX_PARTS = 2_000;

/**
 * Regular expressions that can be matched in time linear to the text: what RE2 and ECMAScript have in common, so that the
 * service and the extensions read them alike. No lookaround, no backreference (choice OP-108). Answers what is wrong.
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
  if (partsOf(pattern) > MAX_PARTS)
    return `must not come to more than ${MAX_PARTS} parts with its repetitions written out`;
  return knownToRe2(pattern) ? undefined : 'holds what RE2 does not know';
}

/** What no linear matcher can do, or RE2 reads otherwise. */
function tokenFault(token: string): string | undefined {
  if (/^\\[1-9k]/.test(token)) return 'must not refer back to a group';
  if (/^\((?:\?<?[=!])/.test(token)) return 'must not look around';
  return UNSHARED.test(token) ? 'holds what RE2 does not know' : undefined;
}

/** Characters, classes and escapes, each as often as the repetitions around it have it. */
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

/** Whatever the two do not have in common and the tokens do not show (properties of characters, sizes of programs). */
function knownToRe2(pattern: string): boolean {
  try {
    return Boolean(RE2JS.compile(pattern));
  } catch {
    return false;
  }
}

/** An escape, a class, the head of a group, a counted repetition, or one character. Unicode mode leaves no other reading. */
const TOKENS = /\\[pPu]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:<[=!]|[:=!]|<\w+>))?|\{\d+(?:,\d*)?\}|[^]/gu;
const QUANTIFIER = /^[*+?]$/;
/** Code points and control characters by escape, empty classes, and escapes of the same kind inside classes. */
const UNSHARED = /^\\[uc]|^\[\^?\]|^\[.*\\[uc].*\]$/s;
