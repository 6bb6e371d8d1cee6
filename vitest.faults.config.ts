import { defineConfig } from 'vitest/config';

/** `npm run test:faults`: real servers are broken under real processes of the service. Longer with `ROUNDS=`. */
export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts', 'test/abuse/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Names every test, so that what was skipped, and why, can be seen.
    reporters: ['verbose'],
  },
});
