import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { APART, CLOCK, isIn } from './suites.ts';

/**
 * The longest files of each suite, longest first: if one of them began last, the other workers would have nothing to do
 * until it ends. A file that is not listed takes less than 16 seconds, in `npm test` less than nine.
 */
const LONG = [
  // `npm run test:peers`: at most three at once of those that mostly wait, beside two that mostly compute.
  'test/crash/pages.test.ts',
  'test/crash/directory-sync-after-kills.test.ts',
  'test/crash/event-store-outages.test.ts',
  'test/contexts/installation/restore.test.ts',
  'test/contexts/installation/interrupted-restore.test.ts',
  'test/laws/bad-input.test.ts',
  'test/app/http/sso/overtaken-callback.test.ts',
  'test/app/cli/processes.test.ts',
  'test/crash/offboarding-after-kills.test.ts',
  'test/platform/database/restore.test.ts',
  'test/laws/looking-commands.test.ts',
  'test/crash/retried-after-a-kill.test.ts',
  'test/app/http/sso/oidc-refusal-details.test.ts',
  'test/peers/readme-tour.test.ts',
  'test/crash/nothing-acknowledged-is-lost.test.ts',
  'test/crash/deliveries.test.ts',
  'test/contexts/installation/log-copy/log-copy.test.ts',
  'test/contexts/installation/running-backup.test.ts',
  'test/crash/update-after-a-kill.test.ts',
  'test/app/browser/login.test.ts',
  'test/crash/crash-recovery.test.ts',
  'test/contexts/installation/log-watch.test.ts',
  'test/app/http/scim/scim-patch.test.ts',
  'test/peers/composed-installation.test.ts',
  'test/contexts/installation/identity.test.ts',
  'test/app/http/updates/updates.test.ts',
  'test/app/http/employees/used-up-license.test.ts',
  'test/laws/retried-creations.test.ts',
  'test/peers/container-image.test.ts',
  'test/contexts/sso/saml/saml-http.test.ts',
  'test/platform/eventstore/eventstoredb-secured.test.ts',
  'test/app/http/directory-sources/returning-groups.test.ts',
  'test/app/cli/unwritten-output.test.ts',
  'test/app/service/refused-starts.test.ts',
  'test/app/http/updates/update-download.test.ts',
  'test/contexts/sso/oidc-attacks.test.ts',
  'test/app/http/employees/erasure.test.ts',
  'test/platform/projector/reaction-dead-letters.test.ts',
  'test/contexts/audit/audit-key.test.ts',
  'test/app/http/directory-sources/withheld-groups.test.ts',
  'test/contexts/installation/doubts-of-others.test.ts',
  'test/peers/api-description.test.ts',
  'test/platform/embedded/root.test.ts',
  'test/contexts/log-destinations/forwarding.test.ts',
  'test/app/http/rate-limits.test.ts',
  'test/platform/vault/master-key.test.ts',
  'test/crash/eventstoredb-restored.test.ts',
  'test/peers/typescript-client.test.ts',
  'test/contexts/sso/saml/accept-response.test.ts',
  'test/app/http/on-call/pages.test.ts',
  'test/app/http/dead-lettered-reactions.test.ts',
  'test/contexts/sso/saml/logout-before-exchange.test.ts',
  'test/laws/body-references.test.ts',
  'test/platform/projector/reaction-fairness.test.ts',
  // `npm run test:faults`
  'test/faults/connected-service.test.ts',
  'test/faults/running-service.test.ts',
  'test/faults/out-of-connections.test.ts',
  // `npm test`
  'test/app/http/idempotency.test.ts',
  'test/app/http/identity/second-factor.test.ts',
  'test/app/http/identity/step-up.test.ts',
  'test/app/http/log-destinations/log-destinations.test.ts',
  'test/app/http/organizations/organization-sso.test.ts',
  'test/app/http/directory-sources/directory-sync.test.ts',
  'test/app/http/organizations/organization-domains.test.ts',
  'test/app/http/telemetry/arrival-budgets.test.ts',
  'test/laws/read-model-fingerprints.test.ts',
  'test/app/http/sso/callback-state.test.ts',
  'test/app/http/sso/backchannel-logout.test.ts',
  'test/platform/projector/versions-and-forensics.test.ts',
  'test/contexts/installation/untold-answers.test.ts',
  'test/platform/projector/reactions.test.ts',
];

export class LongestFirst extends BaseSequencer {
  /**
   * Files that run apart come before all others: a worker ends when the next file is of another kind, and its
   * successor loads all modules anew.
   */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId, project }: TestSpecification) => {
      const name = moduleId.slice(project.config.root.length + 1);
      if (isIn(APART, name)) return -2;
      if (isIn(CLOCK, name)) return -1;
      const at = LONG.indexOf(name);
      return at < 0 ? LONG.length : at;
    };
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}
