import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TOP = ['src', 'commands', 'queries', 'projections'];

/**
 * Exported names that may exist more than once, each with the reason.
 * An unneeded entry fails the test, so that the list stays true.
 */
const MAY_EXIST_TWICE: Readonly<Record<string, string>> = {};

/** Private words that stood for terms of the field. On the right: the term to use (docs/reference/glossary.md). */
const PRIVATE_WORDS: readonly (readonly [word: RegExp, term: string])[] = [
  [/^house$/, 'application'],
  [/^doors?$/, 'listener'],
  [/^answers?$|^answered$/, 'response'],
  [/^gathering$/, 'batcher, corked socket'],
  [/^turns?$/, 'keyed mutex, limiter, scheduler'],
  [/^remembered$/, 'cached'],
  [/^cursors?$/, 'checkpoint'],
  [/^feed$/, '`$all` stream, log, subscription'],
  [/^filler$|^fill$/, 'replay, rebuild'],
  [/^parking$/, 'dead letters'],
  [/^poison(ed)?$/, 'fold failure, dead letter'],
  [/^trips?$/, 'authorization request'],
  [/^departs?$|^departure$|^arrive$/, 'start of an authorization, callback'],
  [/^behalf$/, 'execution context'],
  [/^workbench$/, 'unit of work'],
  [/^told$|^said$|^spoken$|^taken$/, 'the name of what it holds'],
  [/^strangers?$|^nobody$/, 'unknown user, unfamiliar address, system'],
  [/^patience$|^patient$/, 'timeout'],
  [/^leisure$/, 'idle'],
  [/^laggard$/, 'backlog'],
  [/^setback$/, 'failure class'],
  [/^tries$|^tried$/, 'attempts'],
  [/^standing$/, 'state'],
  [/^most$/, 'max'],
];

/** Names of example domains in tests, which are not words for parts of this product. */
const EXAMPLES: Readonly<Record<string, string>> = { doorEvents: 'guests open doors' };

interface Exported {
  readonly name: string;
  readonly file: string;
}

const filesBelow = (folder: string): string[] =>
  readdirSync(path.join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBelow(name);
    return name.endsWith('.ts') && !name.endsWith('.d.ts') ? [name] : [];
  });

const files = TOP.flatMap(filesBelow);

/** Only code: exports that comments and strings mention do not count. */
const withoutComments = (text: string): string => text.replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '');

const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) +\*?([A-Za-z_$][\w$]*)/gm;
const DESTRUCTURED = /^export const \{([^}]*)\}/gm;

/** What a file declares and exports. `export { … } from` names what another file declares. */
function exportsOf(file: string): Exported[] {
  const text = withoutComments(readFileSync(path.join(ROOT, file), 'utf8'));
  const plain = [...text.matchAll(DECLARATION)].map(([, name]) => name!);
  const destructured = [...text.matchAll(DESTRUCTURED)].flatMap(([, names]) =>
    names!
      .split(',')
      .map((part) => part.split(':').at(-1)!.trim())
      .filter((part) => part !== ''),
  );
  // A function with overloads is one name, as is a constant with the type of its values.
  return [...new Set([...plain, ...destructured])].map((name) => ({ name, file }));
}

const exported = files.flatMap(exportsOf);

/** `catchUpSubscription`, `MAX_HITS`, `dead-letters.test` → their words, in lower case. */
const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.toLowerCase());

function privateWordsIn(name: string): string[] {
  return wordsOf(name).flatMap((word) => {
    const found = PRIVATE_WORDS.find(([pattern]) => pattern.test(word));
    return found ? [`"${word}" (say: ${found[1]})`] : [];
  });
}

describe('one name means one thing', () => {
  it('finds the exported names', () => {
    expect(exported.length).toBeGreaterThan(2_000);
  });

  it('exports each name from one file', () => {
    const places = new Map<string, string[]>();
    for (const { name, file } of exported) places.set(name, [...(places.get(name) ?? []), file]);
    const twice = [...places].filter(([name, where]) => where.length > 1 && !(name in MAY_EXIST_TWICE));
    expect(twice.map(([name, where]) => `${name}: ${where.join(', ')}`)).toEqual([]);
  });

  it('lists no unneeded exception', () => {
    const counts = new Map<string, number>();
    for (const { name } of exported) counts.set(name, (counts.get(name) ?? 0) + 1);
    expect(Object.keys(MAY_EXIST_TWICE).filter((name) => (counts.get(name) ?? 0) < 2)).toEqual([]);
  });

  it("uses the field's terms in exported names", () => {
    const found = exported.flatMap(({ name, file }) => privateWordsIn(name).map((word) => `${file}: ${name}: ${word}`));
    expect(found).toEqual([]);
  });

  it("uses the field's terms in exported names of tests and benchmarks", () => {
    const helpers = ['test', 'bench'].flatMap(filesBelow);
    const found = helpers
      .flatMap(exportsOf)
      .filter(({ name }) => !(name in EXAMPLES))
      .flatMap(({ name, file }) => privateWordsIn(name).map((word) => `${file}: ${name}: ${word}`));
    expect(found).toEqual([]);
  });

  it("uses the field's terms in file names", () => {
    const found = files.flatMap((file) =>
      privateWordsIn(path.posix.basename(file, '.ts')).map((word) => `${file}: ${word}`),
    );
    expect(found).toEqual([]);
  });
});
