import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Lines that one idea needs at most: about 250, with a margin. A longer file usually holds two: split it, and name each
 * part after its idea.
 */
const MAX_LINES = 260;
/** A suite is one idea with many cases. Helpers of tests have room for the peers that they stand in for. */
const MAX_LINES_OF_SUITE = 500;
const MAX_LINES_OF_HELPER = 330;

/** Longer files, each with the reason. An unneeded entry fails the test, so that the list stays true. */
const MAY_BE_LONGER: Readonly<Record<string, string>> = {
  'src/platform/kernel/error-codes.ts': 'a registry: an entry for each code of an error response',
  'test/laws/retried-creations.test.ts': 'a registry: a sample for each route that creates something',
  'test/app/http/scim/scim-rfc.test.ts': 'the sections of RFC 7643 and RFC 7644, one after the other',
};

const filesBelow = (folder: string): string[] =>
  readdirSync(path.join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBelow(name);
    return /\.m?ts$/.test(name) ? [name] : [];
  });

const linesOf = (file: string): number => readFileSync(path.join(ROOT, file), 'utf8').trimEnd().split('\n').length;

function maxLinesOf(file: string): number {
  if (!file.startsWith('test/')) return MAX_LINES;
  return file.endsWith('.test.ts') ? MAX_LINES_OF_SUITE : MAX_LINES_OF_HELPER;
}

it('a file holds one idea: its length is limited', () => {
  const files = ['src', 'commands', 'projections', 'queries', 'scripts', 'bench', 'test'].flatMap(filesBelow);
  const long = files.filter((file) => linesOf(file) > maxLinesOf(file));
  expect(
    long.filter((file) => !(file in MAY_BE_LONGER)).map((file) => `${file}: more than ${maxLinesOf(file)} lines`),
    'split the file by idea, or give the reason in MAY_BE_LONGER',
  ).toEqual([]);
  expect(Object.keys(MAY_BE_LONGER).filter((file) => !long.includes(file))).toEqual([]);
});
