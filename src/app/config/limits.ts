import { FairLimiter } from '../../platform/fairness/fair-limiter.ts';
import { TenantScheduler } from '../../platform/fairness/tenant-scheduler.ts';

/** Concurrency limits for expensive work in one process: in total, and for one tenant or device. */
export interface Limits {
  /** Streamed files. They run for as long as the client reads, so there is no queue. */
  readonly exports: FairLimiter;
  /** CSV files: thousands of commands each. */
  readonly imports: FairLimiter;
  /** Uploaded signature packs: one command for each signature. */
  readonly packs: FairLimiter;
  /** Uploads of update bundles: the installation stages one. */
  readonly bundles: FairLimiter;
  /** Device certificates, revocation lists, and the installation and removal of authorities. */
  readonly certificates: FairLimiter;
  /** Zip archives, built in memory, with one secret for each entry. */
  readonly archives: FairLimiter;
  /** Verifications of audit chains. */
  readonly verifications: FairLimiter;
  /** Requests of one device. */
  readonly devices: FairLimiter;
  /** Requests of one tenant, limited while short requests of others have to wait. */
  readonly tenants: TenantScheduler;
}

const SECOND = 1_000;

/** `probe`: a short database query. Its latency shows whether requests have to wait. */
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
  bundles: new FairLimiter({
    what: 'update bundles',
    atOnce: 1,
    perKey: 1,
    waiting: 0,
    waitingPerKey: 0,
    waitMs: 0,
    retryAfterSeconds: 10,
  }),
  // A long queue per tenant, for a fleet that enrolls in one morning. Enough run at once to share commits.
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
  // One verification runs in worker threads and one on this thread. Each occupies one event store connection.
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
