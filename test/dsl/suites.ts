/**
 * Which suite runs which test files: this is the only list. A file that no pattern names belongs to `npm test`. A pattern is
 * a folder (`folder/**`) or a file.
 */

/** Minutes of broken servers: `npm run test:faults`. */
export const FAULTS = ['test/faults/**', 'test/abuse/**'];

/**
 * What takes long: real programs that start, are killed, restored or driven, servers of a test's own that hang or restart, and
 * sweeps with thousands of requests: `npm run test:peers`.
 */
export const PEERS = [
  'test/peers/**',
  // Processes of the service are started, killed and started again.
  'test/crash/**',
  'test/app/service/closed-files.test.ts',
  'test/app/service/database-restart.test.ts',
  'test/app/service/frozen-database.test.ts',
  'test/app/service/read-only-database.test.ts',
  'test/app/service/redis-away.test.ts',
  'test/app/service/roles.test.ts',
  // Chromium.
  'test/app/browser/**',
  // The program in a shell, and a whole day of a fleet.
  'test/app/cli/processes.test.ts',
  'test/app/cli/audit-proof.test.ts',
  'test/app/cli/unwritten-output.test.ts',
  'test/app/demo/**',
  // Programs that are bundled and started.
  'test/laws/bundles.test.ts',
  'test/platform/observability/exported-spans.test.ts',
  'test/scripts/run.test.ts',
  'test/scripts/with-dependencies.test.ts',
  // Clusters of PostgreSQL of their own: created, killed, dumped and restored.
  'test/platform/embedded/**',
  'test/platform/database/logins.test.ts',
  'test/platform/database/pooler.test.ts',
  'test/platform/database/half-restore.test.ts',
  'test/platform/database/lost-parts.test.ts',
  'test/platform/database/restore.test.ts',
  'test/contexts/audit/audit-key.test.ts',
  'test/contexts/installation/log-copy/log-copy.test.ts',
  'test/contexts/installation/interrupted-restore.test.ts',
  'test/contexts/installation/log-watch.test.ts',
  'test/contexts/installation/restore.test.ts',
  'test/contexts/installation/running-backup.test.ts',
  // Redis, stopped, frozen and shared by several processes.
  'test/app/http/notifications/outbox.test.ts',
  'test/app/http/rate-limits.test.ts',
  'test/platform/jobs/outage.test.ts',
  'test/platform/jobs/redis.test.ts',
  'test/platform/jobs/redis-outage.test.ts',
  // Servers of an event log that hang, restart, or have another log.
  'test/app/http/employees/interrupted-import.test.ts',
  'test/app/http/employees/used-up-license.test.ts',
  'test/app/http/request-deadlines.test.ts',
  'test/contexts/installation/identity.test.ts',
  'test/contexts/installation/log-copy/what-is-copied.test.ts',
  'test/platform/eventstore/eventstoredb.test.ts',
  'test/platform/eventstore/eventstoredb-outages.test.ts',
  'test/platform/eventstore/eventstoredb-secured.test.ts',
  // Collectors of logs, feeds of updates and programs that install them.
  'test/app/http/updates/update-download.test.ts',
  'test/app/http/updates/updates.test.ts',
  'test/contexts/log-destinations/forwarding.test.ts',
  'test/contexts/log-destinations/sinks.test.ts',
  // Sweeps: every route, command or clause with everything that may be wrong with it. Run those of what you change.
  'test/app/http/alerts/less-is-watched.test.ts',
  'test/app/http/employees/erasure.test.ts',
  'test/app/http/scim/scim-patch.test.ts',
  'test/laws/all-wrong-together.test.ts',
  'test/laws/bad-input.test.ts',
  'test/laws/body-references.test.ts',
  'test/laws/dependency-away.test.ts',
  'test/laws/http-conventions.test.ts',
  'test/laws/looking-commands.test.ts',
  'test/laws/retried-creations.test.ts',
  'test/laws/tenants-never-meet.test.ts',
  // Thousands of ways to tamper with a log and its tables, and of schedules beside a plain recount.
  'test/contexts/audit/tamper-log.test.ts',
  'test/contexts/audit/tamper-table.test.ts',
  'test/contexts/on-call/schedule-resolver.test.ts',
  // Lives of directories, once for each provider, and synchronizations that are interrupted.
  'test/app/http/directory-sources/returning-groups.test.ts',
  'test/contexts/directory-sources/interrupted-sync.test.ts',
  'test/app/http/directory-sources/withheld-groups.test.ts',
  // Corpora of attacks on single sign-on, and races of sign-ins and logouts.
  'test/app/http/sso/changed-configuration.test.ts',
  'test/app/http/sso/oidc-refusal-details.test.ts',
  'test/app/http/sso/overtaken-callback.test.ts',
  'test/app/http/sso/refused-exchange.test.ts',
  'test/contexts/sso/oidc-attacks.test.ts',
  'test/contexts/sso/saml/accept-response.test.ts',
  'test/contexts/sso/saml/logout-before-exchange.test.ts',
  'test/contexts/sso/saml/saml-http.test.ts',
  // Back-offs, leases and timers that run out.
  'test/app/http/dead-lettered-reactions.test.ts',
  'test/app/http/notifications/email.test.ts',
  'test/app/http/notifications/pushes.test.ts',
  'test/app/http/notifications/webhooks.test.ts',
  'test/app/http/on-call/pages.test.ts',
  'test/contexts/installation/doubts-of-others.test.ts',
  'test/platform/projector/exactly-once.test.ts',
  'test/platform/projector/reaction-dead-letters.test.ts',
  'test/platform/projector/reaction-fairness.test.ts',
  // Starts that are refused, and several processes with different master keys.
  'test/app/service/refused-starts.test.ts',
  'test/platform/vault/master-key.test.ts',
];

/** Files that replace a module: no other file of their worker may have loaded it before. */
export const APART = [
  'test/laws/declared-resources.test.ts',
  'test/contexts/identity/password-length.test.ts',
  'test/contexts/sso/oversized-fields.test.ts',
];

/**
 * Files that replace the clock, its timers, or another function of the whole process. No application that other files share
 * runs in their workers: a lane that sets a timer meanwhile would wait for it for good.
 */
export const CLOCK = [
  'test/app/http/notifications/digest.test.ts',
  'test/app/http/notifications/long-outage.test.ts',
  'test/app/http/on-call/pages.test.ts',
  'test/app/http/sso/failed-calls-say-why.test.ts',
  'test/app/service/service-state.test.ts',
  'test/contexts/certificates/kept-server-certificate.test.ts',
  'test/contexts/identity/access-tokens.test.ts',
  'test/contexts/identity/hashing-limiter.test.ts',
  'test/platform/database/restitution.test.ts',
  'test/platform/database/tenant-pool.test.ts',
  'test/platform/fairness/fair-limiter.test.ts',
  'test/platform/fairness/tenant-scheduler.test.ts',
  'test/platform/numbers/held-numbers.test.ts',
  'test/platform/observability/tracing.test.ts',
  'test/platform/projector/catch-up-subscription.test.ts',
];

export const isIn = (suite: readonly string[], file: string): boolean =>
  suite.some((pattern) => (pattern.endsWith('/**') ? file.startsWith(pattern.slice(0, -2)) : file === pattern));
