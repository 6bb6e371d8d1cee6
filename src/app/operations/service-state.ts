import { HealthCheck, rejectAfter, type Health, type Probe } from '../../platform/observability/health.ts';

/** Whether requests should be sent to this process. */
export interface Readiness {
  readonly status: Health['status'];
  readonly ready: boolean;
  /** Read models that are behind the feed; empty also where that cannot be known. */
  readonly lagging: readonly string[];
  /** Why nothing is served, where event log, tables and keys do not belong together. */
  readonly reason?: string;
}

/** As old as an answer to a probe may be. The routes are open to everybody, and each question costs several transactions. */
const FRESH_MS = 1_000;
/** What is not well is looked at sooner: somebody waits for it. */
const UNWELL_FRESH_MS = 250;
const PATIENCE_MS = 700;

export interface StateSources {
  readonly probes: readonly Probe[];
  /** Served read models that are more than a few seconds behind the feed. */
  lagging(): Promise<string[]>;
  /** Brings gauges up to date that are only read, never pushed. */
  measure(): Promise<void>;
}

/**
 * What `/health`, `/ready` and `/metrics` say: within a second whatever is broken, and asked once a second however many callers
 * there are.
 */
export class ServiceState {
  readonly health: () => Promise<Health>;
  readonly readiness: () => Promise<Readiness>;
  /** False where the gauges could not be brought up to date: they show what was last known. */
  readonly measured: () => Promise<boolean>;

  constructor({ probes, lagging, measure }: StateSources) {
    const check = new HealthCheck(probes);
    const known = onceAtATime(lagging);
    const taken = onceAtATime(measure);
    this.health = freshly(
      () => check.run(),
      ({ status }) => status !== 'unhealthy',
    );
    const lags = freshly(
      () => rejectAfter(PATIENCE_MS, known()).catch(() => undefined),
      (behind) => behind?.length === 0,
    );
    this.readiness = async () => {
      const [health, behind] = await Promise.all([this.health(), lags()]);
      // Without what only degrades, such as Redis or the storage for objects, requests are served: all nodes would leave at once.
      const ready = health.status !== 'unhealthy' && behind?.length === 0;
      const log = health.dependencies['event_log'];
      return {
        status: health.status,
        ready,
        lagging: behind ?? [],
        ...(log?.status === 'unhealthy' && log.message ? { reason: log.message } : {}),
      };
    };
    this.measured = freshly(
      () =>
        rejectAfter(PATIENCE_MS, taken()).then(
          () => true,
          () => false,
        ),
      (isCurrent) => isCurrent,
    );
  }
}

/** The same answer for everybody who asks while it is made, and for a moment after. */
function freshly<T>(ask: () => Promise<T>, isWell: (answer: T) => boolean): () => Promise<T> {
  let latest: { readonly answer: Promise<T>; readonly until: number } | undefined;
  return () => {
    if (latest && performance.now() < latest.until) return latest.answer;
    const made = { answer: ask(), until: Number.POSITIVE_INFINITY };
    const expires = (ms: number) => void (made.until = performance.now() + ms);
    made.answer.then(
      (answer) => expires(isWell(answer) ? FRESH_MS : UNWELL_FRESH_MS),
      () => expires(0),
    );
    latest = made;
    return made.answer;
  };
}

/** Joins work that is under way, however many have given it up. */
function onceAtATime<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => (running ??= work().finally(() => (running = undefined)));
}
