import { RepeatedWarnings } from '../observability/repeated-warnings.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Jobs, Schedule } from './jobs.ts';

/** If schedules are lost, with all data of Redis, they are back within this time. */
const LOOK_MS = 10_000;
const AGAIN_MS = 2_000;

/**
 * Keeps schedules in place: writes them when the process starts, and again if they are missing later. Redis may be
 * unavailable when the process starts, and may come back without its data.
 */
export class PersistentSchedules {
  readonly #jobs: Pick<Jobs, 'schedule' | 'schedules'>;
  readonly #schedules: Readonly<Record<string, Schedule>>;
  readonly #warnings: RepeatedWarnings;
  readonly #lookMs: number;
  readonly #stop = new AbortController();

  constructor(
    jobs: Pick<Jobs, 'schedule' | 'schedules'>,
    schedules: Readonly<Record<string, Schedule>>,
    log: Logger,
    lookMs = LOOK_MS,
  ) {
    this.#jobs = jobs;
    this.#schedules = schedules;
    this.#warnings = new RepeatedWarnings(log);
    this.#lookMs = lookMs;
  }

  start(): void {
    void this.#run(); // handles all errors
  }

  stop(): void {
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let written = false;
    while (!signal.aborted) {
      let pause = this.#lookMs;
      try {
        // First all schedules of this build, replacing stored ones. Later only missing ones: rewriting one may move
        // its next run.
        await this.#write(written ? await this.#missing() : Object.keys(this.#schedules));
        written = true;
      } catch (error) {
        pause = Math.min(AGAIN_MS, this.#lookMs);
        if (!signal.aborted)
          this.#warnings.warn({ reason: (error as Error).message }, 'schedules could not be written');
      }
      await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #missing(): Promise<string[]> {
    const there = new Set(await this.#jobs.schedules());
    return Object.keys(this.#schedules).filter((key) => !there.has(key));
  }

  async #write(keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#jobs.schedule(key, this.#schedules[key]!);
  }
}
