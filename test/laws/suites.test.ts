import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { APART, FAULTS, isIn, PEERS } from '../dsl/suites.ts';

const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/${name}`);
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

/** What costs a process, a browser or a server of its own, beyond the PostgreSQL that all files share. */
const PROGRAMS =
  /from '[^']*\/(?:service-process|chromium|system-postgres|password-server)\.ts'|'src\/(?:cli|main)\.ts',/;

/** Files with the words by which programs are found, which start none. */
const ONLY_NAME_PROGRAMS = ['test/laws/suites.test.ts', 'test/laws/compose.test.ts'];

describe('the suites of tests', () => {
  it('name files that exist, each in one suite', () => {
    for (const pattern of [...FAULTS, ...PEERS, ...APART])
      expect(existsSync(pattern.replace(/\/\*\*$/, '')), pattern).toBe(true);
    expect(files.filter((file) => [FAULTS, PEERS, APART].filter((suite) => isIn(suite, file)).length > 1)).toEqual([]);
  });

  it('leave tests that start programs out of npm test', () => {
    const quick = files.filter(
      (file) => !isIn(FAULTS, file) && !isIn(PEERS, file) && !ONLY_NAME_PROGRAMS.includes(file),
    );
    expect(quick.length).toBeGreaterThan(200);
    expect(
      quick.filter((file) => PROGRAMS.test(readFileSync(file, 'utf8'))),
      'name them in PEERS of test/dsl/suites.ts',
    ).toEqual([]);
  });

  it('all run in CI', () => {
    const ci = readFileSync('.ci/run', 'utf8').split('\n');
    const suites = Object.keys(scripts).filter((name) => /^test(?!:domain)/.test(name));
    expect(suites.toSorted()).toEqual(['test', 'test:faults', 'test:peers']);
    for (const suite of suites) expect(ci).toContain(suite === 'test' ? 'npm test' : `npm run ${suite}`);
  });
});
