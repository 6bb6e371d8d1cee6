import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/dsl/longest-first.ts';

/** `npm run test:faults`: breaks real servers under real processes of the service. Longer with `ROUNDS=`. */
export default defineConfig({
  test: {
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 240_000,
    // Lists every test, so that skipped ones, and the reasons, are visible.
    reporters: ['verbose'],
    sequence: { sequencer: LongestFirst },
    // The suites transform the same files, one suite after the other.
    experimental: { fsModuleCache: true },
    projects: [
      // Mostly waits, so one file more than there are cores. Probes are judged beside those of a bare server, which a busy
      // machine delays alike.
      {
        extends: true,
        test: {
          name: 'faults',
          include: ['test/faults/**/*.test.ts'],
          maxWorkers: 3,
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      // Compares times, so nothing else runs.
      {
        extends: true,
        test: { name: 'abuse', include: ['test/abuse/**/*.test.ts'], maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
