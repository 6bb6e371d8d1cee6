import { createRequire } from 'node:module';

// Loaded lazily: 49,000 entries take a tenth of a second, and many processes never need them.
const require = createRequire(import.meta.url);
let list: ReadonlySet<string> | undefined;
const common = (): ReadonlySet<string> =>
  (list ??= new Set(
    (require('@zxcvbn-ts/language-common') as typeof import('@zxcvbn-ts/language-common')).dictionary[
      'passwords-common'
    ],
  ));

/** Shorter entries of the list occur in many good passwords. */
const SHORTEST_COMMON = 4;
/** Letters that a password needs besides publicly known names. */
const LEAST_LETTERS_BESIDES_NAMES = 4;
const SHORTEST_NAME = 4;
const LEAST_DIFFERENT_CHARACTERS = 5;
const PRODUCT = 'castellan';

const folded = (text: string): string => text.normalize('NFKC').toLowerCase();
const lettersOf = (text: string): string => text.replaceAll(/[^\p{L}]/gu, '');

const LOOKALIKES: Readonly<Record<string, string>> = {
  '@': 'a',
  '4': 'a',
  '8': 'b',
  '3': 'e',
  '6': 'g',
  '9': 'g',
  '0': 'o',
  $: 's',
  '5': 's',
  '7': 't',
  '+': 't',
  '2': 'z',
};
/** The text itself, and with digits and signs read as the letters they resemble. 1, ! and | resemble two letters. */
const readings = (text: string): string[] => {
  const plain = text.replaceAll(/[@483690$57+2]/g, (sign) => LOOKALIKES[sign]!);
  return [text, plain.replaceAll(/[1!|]/g, 'i'), plain.replaceAll(/[1!|]/g, 'l')];
};

/**
 * Up to this many non-letters at an end are tried as part of the word: `welc0m3!` ends with a digit that stands for a
 * letter.
 */
const MAX_ENDINGS = 8;
const endings = (most: number): number[] => [
  ...new Set([...Array.from({ length: Math.min(most, MAX_ENDINGS) + 1 }, (_, count) => count), most]),
];

/** With and without the non-letters at both ends: that is where people add a year or a sign to satisfy a rule. */
function* trimmed(text: string): Generator<string> {
  const leading = /^[^\p{L}]*/u.exec(text)![0].length;
  const trailing = /[^\p{L}]*$/u.exec(text)![0].length;
  for (const start of endings(leading)) {
    for (const end of endings(trailing)) if (start + end < text.length) yield text.slice(start, text.length - end);
  }
}

/** `abcabcabc` is no stronger than `abc`. */
const unit = (text: string): string => /^(.+?)\1*$/su.exec(text)?.[1] ?? text;

function isCommon(text: string): boolean {
  const known = common();
  const isKnown = (word: string) => word.length >= SHORTEST_COMMON && known.has(word);
  if (readings(text).some((reading) => isKnown(unit(lettersOf(reading))))) return true;
  for (const part of trimmed(text)) {
    if (readings(part).some((reading) => isKnown(reading) || isKnown(lettersOf(reading)))) return true;
  }
  return false;
}

/** The words in names and addresses, whole and in parts. A domain's last label identifies no one. */
function namesIn(known: readonly string[]): string[] {
  const words = known.map(folded).flatMap((text) => {
    const [local, domain] = text.split('@') as [string, string?];
    const whole = domain === undefined ? [text] : [local, ...domain.split('.').slice(0, -1)];
    return whole.flatMap((one) => [one, ...one.split(/[^\p{L}\p{N}]+/u)]);
  });
  const letters = [...words, PRODUCT].map(lettersOf).filter((word) => word.length >= SHORTEST_NAME);
  return [...new Set(letters)].sort((a, b) => b.length - a.length);
}

function isMadeOf(names: readonly string[], text: string): boolean {
  return readings(text).some((reading) => {
    const letters = lettersOf(reading);
    const besides = names.reduce((left, name) => left.replaceAll(name, ''), letters);
    return besides !== letters && (besides.length < LEAST_LETTERS_BESIDES_NAMES || common().has(besides));
  });
}

/** Why a password is one of the first that an attacker tries; undefined if it is not. */
export function commonPasswordReason(password: string): string | undefined {
  const text = folded(password);
  if (new Set(text).size < LEAST_DIFFERENT_CHARACTERS) return 'must have more different characters';
  return isCommon(text) ? 'must not be a common password, even with digits or signs added' : undefined;
}

/** Like `commonPasswordReason`, for an attacker who knows the account: `known` are e-mail, name and tenant. */
export function guessablePasswordReason(password: string, known: readonly string[]): string | undefined {
  const common = commonPasswordReason(password);
  if (common) return common;
  return isMadeOf(namesIn(known), folded(password))
    ? 'must not be based on your name, e-mail or organization'
    : undefined;
}
