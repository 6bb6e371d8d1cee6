import { defineConfig } from 'vitest/config';

/** Other implementations of a protocol, as they are packaged: `npm run test:peers`. Minutes, and only where installed. */
export default defineConfig({
  test: {
    globalSetup: ['test/dsl/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 180_000,
    include: ['test/peers/**/*.test.ts'],
  },
});
