import { version } from '../version.ts';

export type HealthStatus = 'healthy' | 'degraded' | 'unhealthy';

export interface Dependency {
  readonly name: string;
  readonly status: HealthStatus;
  readonly latency_ms: number;
  readonly last_check: string;
  readonly message?: string;
}

export interface Health {
  readonly status: HealthStatus;
  readonly version: string;
  readonly uptime_seconds: number;
  readonly timestamp: string;
  readonly dependencies: Readonly<Record<string, Dependency>>;
}

/**
 * A dependency of the service. `critical`: without it nothing works; the loss of any other only degrades the service.
 */
export interface Probe {
  readonly name: string;
  readonly critical: boolean;
  /** Throws, or returns a message if the dependency is impaired. */
  check(): Promise<string | undefined>;
}

/** Thrown by a probe whose message is the service's own and may be public. Messages of drivers may not. */
export class Unhealthy extends Error {}

/** Load balancers and monitors wait about a second. */
const TIMEOUT_MS = 700;
/** A second check may be well where only the connection of the first is silent. */
const CHECKS_AT_ONCE = 2;

/** The state of one dependency at the time of `last_check`. */
interface Checked {
  readonly probe: Probe;
  readonly state: Dependency;
}

/** Checks all dependencies at once; one that does not respond in time is down (docs/requirements/operations.md). */
export class HealthCheck {
  readonly #probes: readonly Probe[];
  /** How many checks of a probe are still running. Those of a frozen peer would pile up, each on a connection. */
  readonly #pending = new Map<Probe, number>();

  constructor(probes: readonly Probe[]) {
    this.#probes = probes;
  }

  async run(): Promise<Health> {
    const checked = await Promise.all(
      this.#probes.map(async (probe): Promise<Checked> => ({ probe, state: await this.#ask(probe) })),
    );
    const down = checked.some(({ probe, state }) => probe.critical && state.status === 'unhealthy');
    const impaired = checked.some(({ state }) => state.status !== 'healthy');
    return {
      status: down ? 'unhealthy' : impaired ? 'degraded' : 'healthy',
      version,
      uptime_seconds: Math.floor(process.uptime()),
      timestamp: new Date().toISOString(),
      dependencies: Object.fromEntries(checked.map(({ state }) => [state.name, state])),
    };
  }

  async #ask(probe: Probe): Promise<Dependency> {
    const started = performance.now();
    const done = (status: HealthStatus, message?: string): Dependency => ({
      name: probe.name,
      status,
      latency_ms: Math.round((performance.now() - started) * 10) / 10,
      last_check: new Date().toISOString(),
      ...(message ? { message } : {}),
    });
    if (this.#running(probe) >= CHECKS_AT_ONCE) return done('unhealthy', 'unavailable');
    try {
      const impairment = await rejectAfter(TIMEOUT_MS, this.#check(probe));
      return impairment ? done('degraded', impairment) : done('healthy');
    } catch (error) {
      // A driver's message may name hosts and users.
      return done('unhealthy', error instanceof Unhealthy ? error.message : 'unavailable');
    }
  }

  #running(probe: Probe): number {
    return this.#pending.get(probe) ?? 0;
  }

  async #check(probe: Probe): Promise<string | undefined> {
    this.#pending.set(probe, this.#running(probe) + 1);
    try {
      return await probe.check();
    } finally {
      this.#pending.set(probe, this.#running(probe) - 1);
    }
  }
}

/** Rejects if the work takes longer; the work itself goes on. */
export async function rejectAfter<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no response in time')), milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
