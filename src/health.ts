import { version } from './version.ts';

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

/** A thing that the service needs. `critical`: without it nothing works; otherwise its loss only degrades. */
export interface Probe {
  readonly name: string;
  readonly critical: boolean;
  /** Throws, or answers a message where something is not as it should be. */
  check(): Promise<string | undefined>;
}

/** Thrown by a probe whose reason is the service's own words, fit for anyone to read; what a driver says is not. */
export class Unhealthy extends Error {}

const PATIENCE_MS = 2_000;

/** Asks every dependency at once; one that does not answer in time is down (interface "Operational endpoints"). */
export async function checkHealth(probes: readonly Probe[]): Promise<Health> {
  const checked = await Promise.all(probes.map(async (probe) => [probe, await ask(probe)] as const));
  const down = (critical: boolean) => checked.some(([probe, { status }]) => status === 'unhealthy' && probe.critical === critical);
  const impaired = checked.some(([, { status }]) => status !== 'healthy');
  return {
    status: down(true) ? 'unhealthy' : impaired ? 'degraded' : 'healthy',
    version,
    uptime_seconds: Math.floor(process.uptime()),
    timestamp: new Date().toISOString(),
    dependencies: Object.fromEntries(checked.map(([{ name }, state]) => [name, state])),
  };
}

async function ask({ name, check }: Probe): Promise<Dependency> {
  const started = performance.now();
  const done = (status: HealthStatus, message?: string): Dependency => ({
    name,
    status,
    latency_ms: Math.round((performance.now() - started) * 10) / 10,
    last_check: new Date().toISOString(),
    ...(message ? { message } : {}),
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), PATIENCE_MS);
  });
  try {
    const impairment = await Promise.race([check(), late]);
    return impairment ? done('degraded', impairment) : done('healthy');
  } catch (error) {
    // What a driver says may name hosts and users.
    return done('unhealthy', error instanceof Unhealthy ? error.message : 'unavailable');
  } finally {
    clearTimeout(timer);
  }
}
