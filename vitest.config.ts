import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/dsl/longest-first.ts';
import { APART, CLOCK, FAULTS, isIn, PEERS } from './test/dsl/suites.ts';

/** Naming a file of another suite runs it too: `npx vitest run test/app/browser/login.test.ts`. */
const isNamed = process.argv.some((word) => /^test\/|\.test\.ts$/.test(word));

/** `npm test`: everything that needs minutes of no other program. */
export default defineConfig({
  test: {
    globalSetup: ['test/dsl/global-setup.ts'],
    pool: 'forks',
    // Two cores, and two more files: many wait for a lease to run out, a process to start or the one PostgreSQL that they share.
    maxWorkers: 4,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ['default'],
    sequence: { sequencer: LongestFirst },
    // The suites transform the same files, one suite after the other.
    experimental: { fsModuleCache: true },
    projects: [
      // Files of one worker share their modules: loading them anew for each took as long as a quarter of the tests.
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...APART, ...CLOCK, ...FAULTS, ...(isNamed ? [] : PEERS)],
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: 'clock', include: CLOCK.filter((file) => isNamed || !isIn(PEERS, file)), isolate: false },
      },
      { extends: true, test: { name: 'apart', include: APART } },
    ],
  },
});
