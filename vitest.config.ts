import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/dsl/longest-first.ts';
import { APART, CLOCK, FAULTS, isIn, PEERS } from './test/dsl/suites.ts';

const TESTS = 'test/**/*.test.ts';
const globalSetup = ['test/dsl/global-setup.ts'];
const filesOf = (patterns: readonly string[]) => patterns.map((pattern) => pattern.replace(/\/\*\*$/, '/**/*.test.ts'));

/**
 * The projects of `npm test` are `shared`, `clock` and `apart`, those of `npm run test:peers` are `peers` and `peers-clock`,
 * those of `npm run test:faults` are `faults` and `abuse`. All are in this one file, because the cache of transformed
 * modules counts a module under another configuration file as another module.
 */
export default defineConfig({
  test: {
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 240_000,
    // Files of one worker share their modules: loading them anew for each took as long as a quarter of the tests.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    experimental: { fsModuleCache: true },
    projects: [
      // Two cores, and two more files: many wait for a lease to run out, a process to start or the one PostgreSQL that they share.
      ...[
        { name: 'shared', include: [TESTS], exclude: filesOf([...APART, ...CLOCK, ...FAULTS, ...PEERS]) },
        { name: 'clock', include: CLOCK.filter((file) => !isIn(PEERS, file)) },
        // A worker for each file.
        { name: 'apart', include: APART, isolate: true },
      ].map((test) => ({
        extends: true as const,
        test: { ...test, globalSetup, maxWorkers: 4, sequence: { groupOrder: 0 } },
      })),
      // Two cores, and three more files: the longest mostly wait, for the leases and locks of killed processes to run out.
      ...[
        { name: 'peers', include: filesOf(PEERS), exclude: CLOCK },
        { name: 'peers-clock', include: CLOCK.filter((file) => isIn(PEERS, file)) },
      ].map((test) => ({
        extends: true as const,
        test: { ...test, globalSetup, maxWorkers: 5, sequence: { groupOrder: 1 } },
      })),
      // Mostly waits, so one file more than there are cores. Probes are judged beside those of a bare server, which a busy
      // machine delays alike.
      {
        extends: true,
        test: { name: 'faults', include: ['test/faults/**/*.test.ts'], maxWorkers: 3, sequence: { groupOrder: 2 } },
      },
      // Compares times, so nothing else runs.
      {
        extends: true,
        test: { name: 'abuse', include: ['test/abuse/**/*.test.ts'], maxWorkers: 1, sequence: { groupOrder: 3 } },
      },
    ],
  },
});
