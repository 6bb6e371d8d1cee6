import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/dsl/longest-first.ts';
import { CLOCK, isIn, PEERS } from './test/dsl/suites.ts';

/** `npm run test:peers`: real programs beside the service, such as browsers, killed processes and restored databases. */
export default defineConfig({
  test: {
    globalSetup: ['test/dsl/global-setup.ts'],
    pool: 'forks',
    // Two cores, and three more files: the longest mostly wait, for the leases and locks of killed processes to run out.
    maxWorkers: 5,
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 240_000,
    reporters: ['default'],
    sequence: { sequencer: LongestFirst },
    // The suites transform the same files, one suite after the other.
    experimental: { fsModuleCache: true },
    projects: [
      {
        extends: true,
        test: {
          name: 'peers',
          include: PEERS.map((pattern) => pattern.replace(/\/\*\*$/, '/**/*.test.ts')),
          exclude: CLOCK,
        },
      },
      { extends: true, test: { name: 'clock', include: CLOCK.filter((file) => isIn(PEERS, file)) } },
    ],
  },
});
