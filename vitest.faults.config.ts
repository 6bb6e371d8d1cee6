import { defineConfig } from 'vitest/config';

/** `npm run test:faults`: breaks real servers under real processes of the service. Longer with `ROUNDS=`. */
export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts', 'test/abuse/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 240_000,
    // Lists every test, so that skipped ones, and the reasons, are visible.
    reporters: ['verbose'],
  },
});
