import type { Source } from './load-sources.ts';

interface Entry {
  readonly sources: ReadonlySet<Source>;
  readonly value: unknown;
  readonly weight: number;
}

/** Values by name, up to a total weight; the oldest entry goes first. Each value knows the sources that it was made from. */
export class BoundedMemory {
  readonly #most: number;
  readonly #entries = new Map<string, Entry>();
  readonly #bySource = new Map<Source, Set<string>>();
  #weight = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(name: string): unknown {
    return this.#entries.get(name)?.value;
  }

  /** A value that is heavier than the limit is not kept. */
  put(sources: ReadonlySet<Source>, name: string, value: unknown, weight: number): void {
    this.forget(name);
    if (weight > this.#most) return;
    while (this.#weight + weight > this.#most) this.forget(this.#entries.keys().next().value!);
    this.#entries.set(name, { sources, value, weight });
    this.#weight += weight;
    for (const source of sources) {
      const names = this.#bySource.get(source);
      if (names) names.add(name);
      else this.#bySource.set(source, new Set([name]));
    }
  }

  forget(name: string): void {
    const entry = this.#entries.get(name);
    if (!entry) return;
    this.#entries.delete(name);
    this.#weight -= entry.weight;
    for (const source of entry.sources) {
      const names = this.#bySource.get(source)!;
      names.delete(name);
      if (names.size === 0) this.#bySource.delete(source);
    }
  }

  /** Drops every value that was made from this source. */
  forgetSource(source: Source): void {
    for (const name of this.#bySource.get(source) ?? []) this.forget(name);
  }

  forgetAll(): void {
    this.#entries.clear();
    this.#bySource.clear();
    this.#weight = 0;
  }
}
