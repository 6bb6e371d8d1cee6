import { defineConfig } from 'vitest/config';
import { FAULTS, UNPROBED } from './test/dsl/suites.ts';

/** `npm run test:faults`: breaks real servers under real processes of the service. Longer with `ROUNDS=`. */
export default defineConfig({
  test: {
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Lists every test, so that skipped ones, and the reasons, are visible.
    reporters: ['verbose'],
    projects: [
      // One after the other: what they say about the speed of responses must not depend on their neighbours.
      {
        extends: true,
        test: {
          name: 'probed',
          include: FAULTS.map((pattern) => pattern.replace(/\/\*\*$/, '/**/*.test.ts')),
          exclude: UNPROBED,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: 'unprobed', include: UNPROBED, maxWorkers: 2, sequence: { groupOrder: 2 } },
      },
    ],
  },
});
