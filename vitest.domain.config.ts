import { defineConfig } from 'vitest/config';
import { pureTests } from './test/dsl/pure-tests.ts';

/** `npm run test:domain`: the tests that need no database, server or process, in seconds. */
export default defineConfig({
  test: {
    include: pureTests(),
    pool: 'threads',
    isolate: false,
    maxWorkers: 2,
    testTimeout: 30_000,
    reporters: ['default'],
    experimental: { fsModuleCache: true },
  },
});
