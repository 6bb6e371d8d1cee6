import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const DOCUMENT = 'docs/reference/scim-conformance.md';

/** Sections with clauses for a service provider. */
const SECTIONS = {
  'RFC 7643':
    '2.1 2.2 2.3.1 2.3.2 2.3.3 2.3.4 2.3.5 2.3.6 2.3.7 2.3.8 2.4 2.5 3 3.1 3.2 3.3 4.1.1 4.1.2 4.2 4.3 5 6 7 8 9.2 9.3',
  'RFC 7644':
    '2 2.1 2.2 3.1 3.2 3.3 3.3.1 3.4.1 3.4.2 3.4.2.1 3.4.2.2 3.4.2.3 3.4.2.4 3.4.2.5 3.4.3 3.5 3.5.1 3.5.2 3.5.2.1 3.5.2.2 3.5.2.3 ' +
    '3.6 3.7 3.8 3.9 3.10 3.11 3.12 3.13 3.14 4 5 6 7.1 7.2 7.3 7.4 7.5 7.6 7.7 7.8 8.1',
};

interface Clause {
  readonly rfc: string;
  readonly sections: readonly string[];
  readonly wants: string;
  readonly heldBy: string;
}

const clauses: readonly Clause[] = read(DOCUMENT)
  .split(/^## /m)
  .slice(1)
  .flatMap((part) =>
    [...part.matchAll(/^\| (§[^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)].map(([, sections, wants, heldBy]) => ({
      rfc: part.slice(0, part.indexOf('\n')).trim(),
      sections: sections!.split(',').map((each) => each.trim().replace('§', '')),
      wants: wants!.trim(),
      heldBy: heldBy!.trim(),
    })),
  );

/** `file`: the beginning of a title, or a part of it. */
const TEST = /^`([^`]+\.test\.ts)`: (.+)$/;
/** What is not held by a test says why. */
const REASON = /^(?:Unsupported|Not applicable): .{15,}/;

describe('the clauses of SCIM', () => {
  it.each(Object.entries(SECTIONS))('%s: every section is there', (rfc, sections) => {
    const named = new Set(clauses.filter((clause) => clause.rfc === rfc).flatMap((clause) => clause.sections));
    expect(sections.split(' ').filter((section) => !named.has(section))).toEqual([]);
  });

  it.each(clauses.map((clause) => [`${clause.rfc} ${clause.sections.join(', ')}`, clause] as const))(
    '%s is held by a test, or says why not',
    (_title, { wants, heldBy }) => {
      const [, file, title] = TEST.exec(heldBy) ?? [];
      if (file === undefined) return expect([wants, heldBy]).toEqual([wants, expect.stringMatching(REASON)]);
      const tests = read(file.startsWith('test/') ? file : `test/app/http/scim/${file}`);
      // Titles are texts in the code; a title of a test is never in a comment alone.
      const texts = [...tests.matchAll(/(['`"])((?:(?!\1)[^\\\n]|\\.)*)\1/g)].map(([, , text]) => text!);
      expect([wants, title, texts.some((text) => text.includes(title!))]).toEqual([wants, title, true]);
    },
  );
});
