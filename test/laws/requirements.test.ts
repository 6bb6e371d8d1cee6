import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { alertTypes } from '../../src/contexts/alerts/domain/vocabulary.ts';
import { everyRoute } from './every-route.ts';

const ROOT = join(import.meta.dirname, '../..');
const REQUIREMENTS = 'docs/requirements';
/** Where references occur. A folder includes everything below it. */
const READ = [
  'src',
  'commands',
  'queries',
  'projections',
  'test',
  'bench',
  'docs',
  'scripts',
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
];
const TEXT = /\.(ts|js|mjs|md|sql|html|css)$/;
/** Forms that mean documents outside this repository. */
const ELSEWHERE: readonly RegExp[] = [
  /\/work\/|\bshared\/(?:spec|design|review|reference)\b/,
  /\b(?:facts|choices|interface|open-points)\.md\b|\bendpoints\.tsv\b/,
  /\binterface,? lines? \d+|\[(?:lines? \d+|gap)\]/i,
];

/** A number that no decision record has, for examples. */
const NO_RECORD = '0000';

interface Source {
  readonly path: string;
  readonly text: string;
}

/** The valid targets of a reference. */
interface Entries {
  readonly ids: ReadonlySet<string>;
  readonly titles: ReadonlySet<string>;
}

const DEFINITION = /^- <a id="([^"]+)"><\/a>\*\*([^*]+)\*\* \S/gm;
const definedIn = (page: string): { anchor: string; id: string }[] =>
  [...page.matchAll(DEFINITION)].map(([, anchor, id]) => ({ anchor: anchor!, id: id! }));
const titlesIn = (page: string): string[] => [...page.matchAll(/^## (.+)$/gm)].map(([, title]) => title!);
const repeated = (names: readonly string[]): string[] => names.filter((name, place) => names.indexOf(name) !== place);

/** Includes numbers with too few digits, so that `OP-52` fails instead of passing unnoticed. */
const NUMBER = /\b(?:OP-?\d+|F\d{3})\b/g;
const RANGE = /\b(OP-|F)(\d{3})\s*(?:…|\.\.\.?|–)\s*(?:OP-|F)?(\d{3})\b/g;
const TITLE = /\binterface,? "([^"]+)"/gi;
/** `(interface, login)`: a part of the interface without its title. */
const BARE = /\(interface,? (?!")[^)]*\)/gi;

/** The text of comments on one line, so that a reference may be broken across lines. */
const unwrapped = (text: string): string => text.replaceAll(/\s*\n\s*(?:\*(?!\/)|\/\/|--)?\s*/g, ' ');

const numbersFrom = (prefix: string, from: number, to: number): string[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, step) => `${prefix}${String(from + step).padStart(3, '0')}`);

/** References of a text that lead to no entry and no section. */
function unresolved(text: string, { ids, titles }: Entries): string[] {
  const flat = unwrapped(text);
  const numbers = [...flat.matchAll(NUMBER)].map(([number]) => number);
  const ranges = [...flat.matchAll(RANGE)].flatMap(([, prefix, from, to]) =>
    numbersFrom(prefix!, Number(from), Number(to)),
  );
  const named = [...flat.matchAll(TITLE)].map(([, title]) => title!);
  return [
    ...[...numbers, ...ranges].filter((id) => !ids.has(id)),
    ...named.filter((title) => !titles.has(title)),
    ...[...flat.matchAll(BARE)].map(([bare]) => bare),
  ];
}

const elsewhere = (text: string): string[] => ELSEWHERE.flatMap((form) => text.match(form)?.[0] ?? []);

/** Mentions of documents and of decision records that lead to no file. */
function missing(text: string, records: ReadonlySet<string>): string[] {
  const mentions = [...unwrapped(text).matchAll(/\bdocs\/(?![\w/]*NNN)[\w./-]+\.md\b/g)].map(([mention]) => mention);
  const decisions = [...unwrapped(text).matchAll(/\bdecisions?(?: |\/)(\d{4}(?:(?:, | and )\d{4})*)/g)].flatMap(
    ([, numbers]) => numbers!.match(/\d{4}/g)!,
  );
  return [
    ...mentions.filter((target) => !existsSync(join(ROOT, target))),
    ...decisions.filter((number) => number !== NO_RECORD && !records.has(number)),
  ];
}

async function sources(): Promise<Source[]> {
  const present = READ.filter((name) => existsSync(join(ROOT, name)));
  const below = async (name: string): Promise<string[]> => {
    if (TEXT.test(name)) return [name];
    const entries = await readdir(join(ROOT, name), { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && TEXT.test(entry.name))
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
  };
  const paths = (await Promise.all(present.map(below))).flat().filter((path) => !path.includes('node_modules/'));
  return paths.map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

const all = await sources();
// This file itself contains the forms.
const checked = all.filter(({ path }) => join(ROOT, path) !== import.meta.filename);
const pages = all.filter(({ path }) => path.startsWith(`${REQUIREMENTS}/`) && !path.endsWith('README.md'));
const definitions = pages.flatMap(({ text }) => definedIn(text));
const titles = pages.flatMap(({ text }) => titlesIn(text));
const records = new Set((await readdir(join(ROOT, 'docs/decisions'))).map((name) => name.slice(0, 4)));
const entries: Entries = { ids: new Set(definitions.map(({ id }) => id)), titles: new Set(titles) };

/** By file, so that a failure names it. */
const found = (inSources: readonly Source[], look: (source: Source) => string[]): string[] =>
  inSources.flatMap((source) => look(source).map((wrong) => `${source.path}: ${wrong}`));

describe('requirements', () => {
  it('are each defined once, under an anchor with their number', () => {
    expect(definitions.length).toBeGreaterThan(500);
    expect(repeated(definitions.map(({ id }) => id))).toEqual([]);
    expect(definitions.filter(({ id, anchor }) => anchor !== id.toLowerCase() || !/^(OP-|F)\d{3}$/.test(id))).toEqual(
      [],
    );
  });

  it('belong to sections with distinct titles, on pages that the index lists', () => {
    const index = readFileSync(join(ROOT, REQUIREMENTS, 'README.md'), 'utf8');
    expect(repeated(titles)).toEqual([]);
    expect(
      pages.filter(({ path }) => !index.includes(`](${relative(REQUIREMENTS, path)})`)).map(({ path }) => path),
    ).toEqual([]);
  });

  it('are written in the one form that defines an entry', () => {
    const marked = (page: string): string[] => page.match(/^- .*$/gm) ?? [];
    expect(found(pages, ({ text }) => marked(text).filter((line) => definedIn(line).length !== 1))).toEqual([]);
  });

  it('exist for every number and title that a file refers to', () => {
    expect(
      found(checked, ({ text }) => unresolved(text, entries)),
      'define the entry on a page of docs/requirements (its README says how), or correct the reference',
    ).toEqual([]);
  });

  it('are marked as not served only where there is no route', () => {
    const marks = pages.flatMap(({ text }) =>
      [...text.matchAll(/^Not served yet: no route begins with (.+?)\. /gm)].map(([, prefixes]) => prefixes!),
    );
    const prefixes = marks.flatMap((mark) => [...mark.matchAll(/`([^`]+)`/g)].map(([, prefix]) => prefix!));
    expect(prefixes.length).toBeGreaterThanOrEqual(
      pages.flatMap(({ text }) => text.match(/Not served yet/g) ?? []).length,
    );
    expect(
      prefixes.filter((prefix) => everyRoute.some(({ path }) => path === prefix || path.startsWith(`${prefix}/`))),
      'these paths have routes now: remove "Not served yet" from their sections in docs/requirements',
    ).toEqual([]);
  });

  it('refer to no document outside the repository', () => {
    expect(found(checked, ({ text }) => elsewhere(text))).toEqual([]);
  });
});

describe('documents', () => {
  it('are mentioned only if they exist, including decision records by number', () => {
    expect(found(checked, ({ text }) => missing(text, records))).toEqual([]);
  });
});

describe('a reference', () => {
  const some: Entries = { ids: new Set(['OP-001', 'OP-003', 'F001']), titles: new Set(['Limits']) };

  it.each([
    ['a number', 'choice OP-001; F001'],
    ['a title', 'Interface "Limits"'],
    ['a title on the next line', '/** One (interface,\n * "Limits"). */'],
  ])('with %s resolves to its entry', (_form, text) => expect(unresolved(text, some)).toEqual([]));

  it.each([
    ['a number without entry', 'choice OP-002', ['OP-002']],
    ['a number of another length', 'choice OP-1', ['OP-1']],
    ['a fact without entry', '(F002)', ['F002']],
    ['a range with a gap', 'OP-001 … OP-003', ['OP-002']],
    ['a title without section', '(interface, "Login")', ['Login']],
    ['no title', '(interface, login)', ['(interface, login)']],
  ])('with %s is rejected', (_form, text, wrong) => expect(unresolved(text, some)).toEqual(wrong));

  it('to a document outside the repository is rejected', () =>
    expect(elsewhere('see ../shared/spec/interface.md')).not.toEqual([]));

  it('to a missing file or decision record is rejected', () => {
    const text = '`docs/architecture.md`, `docs/none.md`, decisions 0001 and 0002, docs/decisions/0003';
    expect(missing(text, new Set(['0001']))).toEqual(['docs/none.md', '0002', '0003']);
  });
});

describe('requirements that list values', () => {
  it('name every type of alert (OP-071)', () => {
    const page = readFileSync(join(ROOT, REQUIREMENTS, 'alerts.md'), 'utf8');
    const [, entry = ''] = /\*\*OP-071\*\*([^]*?)\n- <a id=/.exec(page) ?? [];
    const listed = [...entry.matchAll(/`([a-z_]+)`/g)].map(([, type]) => type!);
    expect(listed.toSorted()).toEqual(alertTypes.toSorted());
  });
});
