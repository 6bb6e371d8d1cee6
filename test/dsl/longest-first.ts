import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Begun last, one of two workers would wait for them with nothing to do. Longest first. */
const LONG = [
  'test/crash/nothing-acknowledged-is-lost',
  'test/app/browser/login',
  'test/peers/readme-tour',
  'test/platform/embedded/root',
  'test/laws/bad-input',
  'test/contexts/sso/saml/accept-response',
  'test/laws/command-line',
  'test/app/demo/demo',
  'test/platform/embedded/postgres',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = LONG.findIndex((name) => moduleId.includes(name));
      return at < 0 ? LONG.length : at;
    };
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}
