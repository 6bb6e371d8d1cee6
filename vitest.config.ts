import { defineConfig } from 'vitest/config';

/** Puts a module of its own in the place of one of the house's: nobody else's may have been loaded before it. */
const APART = ['test/laws/declared-resources.test.ts'];

export default defineConfig({
  test: {
    globalSetup: ['test/dsl/global-setup.ts'],
    pool: 'forks',
    // Two cores: more files at a time would only wait for each other, and for the one PostgreSQL that they share.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: ['default'],
    projects: [
      // Files of one worker share their modules: loading them anew for each took as long as a quarter of the tests.
      { extends: true, test: { name: 'house', include: ['test/**/*.test.ts'], exclude: APART, isolate: false } },
      { extends: true, test: { name: 'apart', include: APART } },
    ],
  },
});
