import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Puts a module of its own in the place of one of the house's: nobody else's may have been loaded before it. */
const APART = ['test/laws/declared-resources.test.ts', 'test/contexts/identity/password-length.test.ts'];

/** Minutes of broken servers, for `npm run test:faults` (vitest.faults.config.ts). */
const FAULTS = ['test/faults/**', 'test/abuse/**'];

/** Other implementations, for `npm run test:peers` (vitest.peers.config.ts). */
const PEERS = ['test/peers/**'];

/** What takes longest, longest first. Begun last, one of two workers would wait for it with nothing to do. */
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
    // Two cores, and one more file: many wait for a lease to run out, a process to start or the one PostgreSQL that they share.
    maxWorkers: 3,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ['default'],
    sequence: { sequencer: LongestFirst },
    projects: [
      // Files of one worker share their modules: loading them anew for each took as long as a quarter of the tests.
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...APART, ...FAULTS, ...PEERS],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'apart', include: APART } },
    ],
  },
});
