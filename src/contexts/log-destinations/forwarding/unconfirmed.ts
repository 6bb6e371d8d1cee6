import type { SinkLimits } from '../sinks/sink.ts';

/** What was sent since the last confirmation. */
export class Unconfirmed {
  events = 0;
  records = 0;
  #bytes = 0;
  #since = 0;

  get isEmpty(): boolean {
    return this.events === 0;
  }

  add({ events, records, bytes }: { events: number; records: number; bytes: number }, now: number): void {
    if (this.isEmpty) this.#since = now;
    this.events += events;
    this.records += records;
    this.#bytes += bytes;
  }

  isDue(limits: SinkLimits, now: number): boolean {
    return (
      !this.isEmpty &&
      (this.records >= limits.unconfirmedRecords ||
        this.#bytes >= limits.unconfirmedBytes ||
        now - this.#since >= limits.ageMs)
    );
  }

  /** Milliseconds until it must be confirmed if nothing more comes. */
  dueIn({ quietMs, ageMs }: SinkLimits, now: number): number {
    return Math.max(0, Math.min(quietMs, this.#since + ageMs - now));
  }

  clear(): void {
    this.events = 0;
    this.records = 0;
    this.#bytes = 0;
  }
}
