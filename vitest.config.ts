import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/dsl/global-setup.ts'],
    pool: 'forks',
    // Two cores: more files at a time would only wait for each other, and for the one PostgreSQL that they share.
    maxWorkers: 2,
    // Files of one worker share their modules: loading them anew for each took as long as a quarter of the tests.
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: ['default'],
  },
});
