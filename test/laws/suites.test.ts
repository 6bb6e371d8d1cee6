import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { APART, CLOCK, FAULTS, isIn, PEERS } from '../dsl/suites.ts';

const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/${name}`);
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

/** What costs a process, a browser or a server of its own, beyond the PostgreSQL that all files share. */
const PROGRAMS =
  /from '[^']*\/(?:service-process|chromium|system-postgres|password-server)\.ts'|'src\/(?:cli|main)\.ts',/;

/** Files with the words by which programs are found, which start none. */
const ONLY_NAME_PROGRAMS = ['test/laws/suites.test.ts', 'test/laws/compose.test.ts'];

const REPLACES_A_MODULE = /\bvi\.mock\(/;
/** What every file of a worker uses, and an application that runs in it. */
const REPLACES_WHAT_IS_SHARED =
  /\bvi\.(?:useFakeTimers|setSystemTime|stubGlobal|stubEnv)\(|\bspyOn\((?:globalThis|performance|Date|AbortSignal|process|console|Math|crypto)\b/;

describe('the suites of tests', () => {
  it('name files that exist, each in one suite', () => {
    for (const pattern of [...FAULTS, ...PEERS, ...APART, ...CLOCK])
      expect(existsSync(pattern.replace(/\/\*\*$/, '')), pattern).toBe(true);
    for (const suites of [
      [FAULTS, PEERS, APART],
      [FAULTS, CLOCK, APART],
    ])
      expect(files.filter((file) => suites.filter((suite) => isIn(suite, file)).length > 1)).toEqual([]);
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

  it('keep what a test replaces away from the tests of others', () => {
    const own = 'test/laws/suites.test.ts';
    for (const [replaces, suite, name] of [
      [REPLACES_A_MODULE, APART, 'APART'],
      [REPLACES_WHAT_IS_SHARED, CLOCK, 'CLOCK'],
    ] as const)
      expect(
        files.filter((file) => file !== own && replaces.test(readFileSync(file, 'utf8')) !== isIn(suite, file)),
        `are to be named in ${name} of test/dsl/suites.ts, or need not be`,
      ).toEqual([]);
    expect(CLOCK.filter((file) => readFileSync(file, 'utf8').includes('sharedApp('))).toEqual([]);
  });

  it('all run in CI', () => {
    const ci = readFileSync('.ci/run', 'utf8').split('\n');
    const suites = Object.keys(scripts).filter((name) => /^test(?!:domain)/.test(name));
    expect(suites.toSorted()).toEqual(['test', 'test:faults', 'test:peers']);
    for (const suite of suites) expect(ci).toContain(suite === 'test' ? 'npm test' : `npm run ${suite}`);
  });
});
