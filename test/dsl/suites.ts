/**
 * Which suite runs which test files: this is the only list. A file that no pattern names belongs to `npm test`. A pattern is
 * a folder (`folder/**`) or a file.
 */

/** Minutes of broken servers: `npm run test:faults`. */
export const FAULTS = ['test/faults/**', 'test/abuse/**'];

/**
 * Real programs that start, are killed, restored or driven, and cost seconds each: `npm run test:peers`. Everything that
 * they find is found in `npm test` too if it lies within one process.
 */
export const PEERS = [
  'test/peers/**',
  // Processes of the service are started, killed and started again.
  'test/crash/**',
  'test/app/service/database-restart.test.ts',
  'test/app/service/frozen-database.test.ts',
  'test/app/service/redis-away.test.ts',
  'test/app/service/roles.test.ts',
  // Chromium.
  'test/app/browser/**',
  // The program in a shell, and a whole day of a fleet.
  'test/app/cli/processes.test.ts',
  'test/app/demo/**',
  'test/scripts/run.test.ts',
  'test/scripts/with-dependencies.test.ts',
  // Clusters of PostgreSQL of their own: created, killed, dumped and restored.
  'test/platform/embedded/**',
  'test/platform/database/logins.test.ts',
  'test/platform/database/pooler.test.ts',
  'test/platform/database/restore.test.ts',
  'test/contexts/audit/audit-key.test.ts',
  'test/contexts/installation/log-copy/log-copy.test.ts',
  'test/contexts/installation/log-watch.test.ts',
  'test/contexts/installation/restore.test.ts',
  'test/contexts/installation/running-backup.test.ts',
  // Redis, stopped and frozen.
  'test/platform/jobs/outage.test.ts',
  'test/platform/jobs/redis-outage.test.ts',
];

/** Files that replace a module: no other file of their worker may have loaded it before. */
export const APART = ['test/laws/declared-resources.test.ts', 'test/contexts/identity/password-length.test.ts'];

export const isIn = (suite: readonly string[], file: string): boolean =>
  suite.some((pattern) => (pattern.endsWith('/**') ? file.startsWith(pattern.slice(0, -2)) : file === pattern));
