import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Begun last, one of two workers would wait for them with nothing to do. Longest first. */
const LONG = [
  'test/crash/nothing-acknowledged-is-lost',
  'test/app/browser/login',
  'test/peers/readme-tour',
  'test/platform/embedded/root',
  'test/laws/bad-input',
  'test/contexts/audit/tamper',
  'test/platform/vault/master-key',
  'test/app/http/scim/scim-patch',
  'test/laws/retried-creations',
  'test/contexts/sso/saml/saml-http',
  'test/platform/projector/reaction-fairness',
  'test/app/http/updates/updates.test',
  'test/app/http/signatures/signatures.test',
  'test/app/http/extensions/extension-monitoring',
  'test/app/http/telemetry/arrival-budgets',
  'test/contexts/sso/saml/accept-response',
  'test/contexts/installation/identity',
  'test/laws/command-line',
  'test/laws/declared-resources',
  'test/app/http/identity/second-factor',
  'test/app/http/scim/scim-lists',
  'test/contexts/on-call/schedule-resolver',
  'test/contexts/log-destinations/forwarding',
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
