import type { LaggingModel } from '../../platform/projector/projector.ts';
import { HealthCheck, rejectAfter, type Health, type Probe } from '../../platform/observability/health.ts';

/** Whether requests should be sent to this process. */
export interface Readiness {
  readonly status: Health['status'];
  readonly ready: boolean;
  /** Read models that are behind the event log; also empty if that is unknown. */
  readonly lagging: readonly string[];
  /** Why not, if nothing else says so: event log, tables and keys do not match, or nobody can tell what lags. */
  readonly reason?: string;
}

/** How long a probe's result is cached. The routes are open to everyone, and each check costs several transactions. */
const FRESH_MS = 1_000;
/** A bad result is cached for a shorter time, so that recovery shows soon. */
const UNWELL_FRESH_MS = 250;
const CALL_TIMEOUT_MS = 700;
const LAG_UNKNOWN = 'the progress of the read models is unknown: the database did not say it in time';

export interface StateSources {
  readonly probes: readonly Probe[];
  /** Read models that are more than a few seconds behind the event log, or not served yet. */
  lagging(): Promise<readonly LaggingModel[]>;
  /** Whether this process projects. Another one's delay is no reason to send requests elsewhere: it is the same there. */
  readonly projects: boolean;
  /** Updates the gauges that are read on scrape. */
  measure(): Promise<void>;
}

/**
 * The state behind `/health`, `/ready` and `/metrics`. Results arrive within a second even if a dependency hangs, and are
 * computed at most once a second (every 250 ms while bad), however many callers there are.
 */
export class ServiceState {
  readonly health: () => Promise<Health>;
  readonly readiness: () => Promise<Readiness>;
  /** False if the gauges could not be updated: they show the last known values. */
  readonly measured: () => Promise<boolean>;

  constructor({ probes, lagging, projects, measure }: StateSources) {
    const check = new HealthCheck(probes);
    const known = onceOrTwice(lagging);
    const taken = onceOrTwice(measure);
    this.health = freshly(
      () => check.run(),
      ({ status }) => status !== 'unhealthy',
    );
    const lags = freshly(
      () => rejectAfter(CALL_TIMEOUT_MS, known()).catch(() => undefined),
      (behind) => behind?.length === 0,
    );
    this.readiness = async () => {
      const [health, behind] = await Promise.all([this.health(), lags()]);
      // A degraded process stays ready: otherwise all nodes would leave at once when Redis or object storage fails.
      const waitsFor = behind?.filter(({ isServed }) => projects || !isServed);
      const ready = health.status !== 'unhealthy' && waitsFor?.length === 0;
      const names = (behind ?? []).map(({ name }) => name);
      const log = health.dependencies['event_log'];
      const doubt = log?.status === 'unhealthy' ? log.message : undefined;
      // What is unhealthy is the reason already.
      const reason = doubt ?? (behind || health.status === 'unhealthy' ? undefined : LAG_UNKNOWN);
      // While the log is in doubt everything stands still: its names would hide the reason.
      return { status: health.status, ready, lagging: reason ? [] : names, ...(reason ? { reason } : {}) };
    };
    this.measured = freshly(
      () =>
        rejectAfter(CALL_TIMEOUT_MS, taken()).then(
          () => true,
          () => false,
        ),
      (isCurrent) => isCurrent,
    );
  }
}

/** Shares one result among all callers, while it is computed and for a short time after. */
function freshly<T>(ask: () => Promise<T>, isWell: (result: T) => boolean): () => Promise<T> {
  let latest: { readonly result: Promise<T>; readonly until: number } | undefined;
  return () => {
    if (latest && performance.now() < latest.until) return latest.result;
    const made = { result: ask(), until: Number.POSITIVE_INFINITY };
    const expires = (ms: number) => void (made.until = performance.now() + ms);
    made.result.then(
      (result) => expires(isWell(result) ? FRESH_MS : UNWELL_FRESH_MS),
      () => expires(0),
    );
    latest = made;
    return made.result;
  };
}

/**
 * Joins work that is already running, even if earlier callers no longer wait for it. Work for which they waited in vain begins a
 * second time, and no third: it may be that only the connection of the first is silent.
 */
function onceOrTwice<T>(work: () => Promise<T>): () => Promise<T> {
  const running: { readonly result: Promise<T>; readonly since: number }[] = [];
  return () => {
    const latest = running.at(-1);
    const isLate = latest !== undefined && performance.now() - latest.since >= CALL_TIMEOUT_MS;
    if (latest && !(isLate && running.length === 1)) return latest.result;
    const begun = { since: performance.now(), result: work().finally(() => running.splice(running.indexOf(begun), 1)) };
    running.push(begun);
    return begun.result;
  };
}
