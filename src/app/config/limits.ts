import { FairLimiter } from '../../platform/fairness/fair-limiter.ts';
import { TenantScheduler } from '../../platform/fairness/tenant-scheduler.ts';

/** How much of the expensive work one process does at a time, in all and for one tenant or device. */
export interface Limits {
  /** Files that are written as they are read. They last as long as their client reads, so nobody waits for one. */
  readonly exports: FairLimiter;
  /** CSV files: thousands of commands each. */
  readonly imports: FairLimiter;
  /** Uploaded signature packs: as many commands as signatures. */
  readonly packs: FairLimiter;
  /** Device certificates, revocation lists, and authorities that are installed or removed. */
  readonly certificates: FairLimiter;
  /** Zip archives, made in memory, with as many secrets as entries. */
  readonly archives: FairLimiter;
  /** Audit chains that are computed anew. */
  readonly verifications: FairLimiter;
  /** Requests of one device. */
  readonly devices: FairLimiter;
  /** Requests of one tenant, while short ones of others are kept waiting. */
  readonly tenants: TenantScheduler;
}

const SECOND = 1_000;

/** `probe`: a short question to the database, by which is judged whether requests are kept waiting. */
export const openLimits = (probe: () => Promise<unknown>): Limits => ({
  exports: new FairLimiter({
    what: 'exports',
    atOnce: 8,
    perKey: 2,
    waiting: 0,
    waitingPerKey: 0,
    waitMs: 0,
    retryAfterSeconds: 10,
  }),
  imports: new FairLimiter({
    what: 'imports',
    atOnce: 3,
    perKey: 1,
    waiting: 12,
    waitingPerKey: 2,
    waitMs: 30 * SECOND,
    retryAfterSeconds: 10,
  }),
  packs: new FairLimiter({
    what: 'signature packs',
    atOnce: 4,
    perKey: 2,
    waiting: 12,
    waitingPerKey: 2,
    waitMs: 30 * SECOND,
    retryAfterSeconds: 10,
  }),
  // A fleet that enrolls in one morning waits for its own devices; enough run at once to share commits.
  certificates: new FairLimiter({
    what: 'certificates',
    atOnce: 24,
    perKey: 8,
    waiting: 1_024,
    waitingPerKey: 256,
    waitMs: 10 * SECOND,
    isShort: true,
  }),
  archives: new FairLimiter({
    what: 'archives',
    atOnce: 3,
    perKey: 1,
    waiting: 12,
    waitingPerKey: 2,
    waitMs: 30 * SECOND,
    retryAfterSeconds: 10,
  }),
  // Two, of which one walks in threads and one on this thread: each keeps one connection of the event store busy.
  verifications: new FairLimiter({
    what: 'verifications',
    atOnce: 2,
    perKey: 1,
    waiting: 16,
    waitingPerKey: 1,
    waitMs: 30 * SECOND,
    retryAfterSeconds: 30,
  }),
  devices: new FairLimiter({
    what: 'devices',
    atOnce: Number.POSITIVE_INFINITY,
    perKey: 8,
    waiting: Number.POSITIVE_INFINITY,
    waitingPerKey: 32,
    waitMs: 5 * SECOND,
    isShort: true,
  }),
  tenants: new TenantScheduler(probe),
});
