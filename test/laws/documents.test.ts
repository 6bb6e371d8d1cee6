import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Folders without files of this repository. Folders whose name begins with a dot are left out as well. */
const FOREIGN = ['node_modules', 'coverage', 'dist'];
/** A path in backticks that begins with one of these is a path of the repository. */
const TOP = /^(?:src|commands|projections|queries|test|docs|scripts|bench|\.ci)\//;

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

function markdownBelow(folder = ''): string[] {
  return readdirSync(path.join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith('.') || FOREIGN.includes(entry.name)) return [];
    const name = path.posix.join(folder, entry.name);
    return entry.isDirectory() ? markdownBelow(name) : name.endsWith('.md') ? [name] : [];
  });
}

/** Examples in code blocks may name files that do not exist. */
const prose = (text: string): string => text.replaceAll(/^(`{3,}).*\n[^]*?^\1$/gm, '');

/** The anchor of a heading, as GitHub generates it. */
const anchorOf = (heading: string): string =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');

const anchorsIn = (text: string): string[] =>
  [...prose(text).matchAll(/^#{1,6} +(.+)$/gm)].map(([, heading]) => anchorOf(heading!));

/** Relative links as [file, anchor], from the root of the repository. */
function linksIn(file: string): (readonly [target: string, anchor: string | undefined])[] {
  const withoutCode = prose(read(file)).replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ' '));
  return [...withoutCode.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, address]) => address!)
    .filter((address) => !/^[a-z][a-z+.-]*:/i.test(address))
    .map((address) => {
      const [target, anchor] = address.split('#') as [string, string?];
      return [target === '' ? file : path.posix.join(path.posix.dirname(file), target), anchor] as const;
    });
}

const pathsIn = (text: string): string[] =>
  [...prose(text).matchAll(/`([^`\n]+)`/g)]
    .map(([, code]) => code!)
    .filter((code) => TOP.test(code) && !/[<>*{}…\s]|NNN/.test(code));

/** A decision record may be named by its number alone. */
function exists(named: string): boolean {
  const record = /^docs\/decisions\/(\d{4})$/.exec(named)?.[1];
  if (record) return readdirSync(path.join(ROOT, 'docs/decisions')).some((file) => file.startsWith(`${record}-`));
  return existsSync(path.join(ROOT, named));
}

const documents = markdownBelow();
/** Of the product, and of the examples. */
const scripts = ['package.json', 'examples/typescript-client/package.json'].flatMap((file) =>
  Object.keys((JSON.parse(read(file)) as { scripts: object }).scripts),
);

describe.each(documents)('%s', (file) => {
  it('links to files and headings that exist', () => {
    const broken = linksIn(file).filter(([target, anchor]) => {
      if (!existsSync(path.join(ROOT, target))) return true;
      return anchor !== undefined && !anchorsIn(read(target)).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  it('names paths of the repository that exist', () => {
    expect(pathsIn(read(file)).filter((named) => !exists(named))).toEqual([]);
  });

  it('names npm scripts that exist', () => {
    const named = [...read(file).matchAll(/\bnpm run (?:--silent )?([a-z][a-z:-]*)/g)].map(([, script]) => script!);
    expect(named.filter((script) => !scripts.includes(script))).toEqual([]);
  });
});

describe('the indexes', () => {
  const listedIn = (index: string) => new Set(linksIn(index).map(([target]) => target));
  const isRecord = (file: string) => /^docs\/decisions\/\d{4}-/.test(file);
  /** docs/requirements/README.md lists them, which requirements.test.ts checks. */
  const isRequirement = (file: string) => /^docs\/requirements\/(?!README)/.test(file);

  it('docs/README.md lists every document', () => {
    const listed = listedIn('docs/README.md');
    const missing = documents.filter(
      (file) => file !== 'docs/README.md' && !isRecord(file) && !isRequirement(file) && !listed.has(file),
    );
    expect(missing, 'link each of them from docs/README.md, under its kind').toEqual([]);
  });

  it('docs/decisions/README.md lists every record', () => {
    const listed = listedIn('docs/decisions/README.md');
    const missing = documents.filter((file) => isRecord(file) && !listed.has(file));
    expect(missing, 'run: node --import tsx scripts/decisions-index.ts').toEqual([]);
  });
});

describe('the checks of documents', () => {
  it('generate anchors as GitHub does', () => {
    expect(anchorsIn('# A `code` heading: *two* words\n## Step-by-step [here](x.md)')).toEqual([
      'a-code-heading-two-words',
      'step-by-step-here',
    ]);
  });

  it('read paths outside of code blocks only, and skip patterns', () => {
    expect(
      pathsIn('`src/a.ts`, `src/<context>/b.ts`, `docs/decisions/0001`\n```sh\n`src/c.ts`\n```\n`test/d`'),
    ).toEqual(['src/a.ts', 'docs/decisions/0001', 'test/d']);
    expect(exists('docs/decisions/0066')).toBe(true);
    expect(exists('docs/decisions/0000')).toBe(false);
    expect(exists('src/nothing-of-this-name.ts')).toBe(false);
  });
});
