import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Replaces one of the application's modules: no other file may have loaded it before. */
const APART = ['test/laws/declared-resources.test.ts'];

/** Minutes of broken servers, for `npm run test:faults` (vitest.faults.config.ts). */
const FAULTS = ['test/faults/**', 'test/abuse/**'];

/** The slowest files, slowest first. If they started last, the other workers would idle. */
const LONG = [
  'test/crash/nothing-acknowledged-is-lost',
  'test/app/browser/login',
  'test/platform/embedded/root',
  'test/laws/bad-input',
  'test/contexts/sso/saml/accept-response',
  'test/app/demo/demo',
  'test/platform/embedded/postgres',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = LONG.findIndex((name) => moduleId.includes(name));
      return at < 0 ? LONG.length : at;
    };
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}

export default defineConfig({
  test: {
    globalSetup: ['test/dsl/global-setup.ts'],
    pool: 'forks',
    // Two cores, and one more file: many wait for a lease to expire, a process to start or the shared PostgreSQL.
    maxWorkers: 3,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ['default'],
    sequence: { sequencer: LongestFirst },
    projects: [
      // Files of one worker share their modules: loading them again for each took a quarter as long as the tests.
      {
        extends: true,
        test: { name: 'shared', include: ['test/**/*.test.ts'], exclude: [...APART, ...FAULTS], isolate: false },
      },
      { extends: true, test: { name: 'apart', include: APART } },
    ],
  },
});
