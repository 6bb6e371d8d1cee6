import { LRUCache } from 'lru-cache';
import type { Source } from './load-sources.ts';

interface Entry {
  readonly sources: ReadonlySet<Source>;
  readonly value: unknown;
}

/**
 * Values by name, up to a total weight; the least recently used value is dropped first. Each value keeps its sources.
 */
export class TenantCache {
  readonly #entries: LRUCache<string, Entry>;
  readonly #bySource = new Map<Source, Set<string>>();

  constructor(most: number) {
    this.#entries = new LRUCache({ maxSize: most, dispose: (entry, name) => this.#unlist(entry, name) });
  }

  get(name: string): unknown {
    return this.#entries.get(name)?.value;
  }

  /** A value that is heavier than the limit is not kept. */
  put(sources: ReadonlySet<Source>, name: string, value: unknown, weight: number): void {
    this.#entries.set(name, { sources, value }, { size: Math.max(1, weight) });
    if (!this.#entries.has(name)) return;
    for (const source of sources) {
      const names = this.#bySource.get(source);
      if (names) names.add(name);
      else this.#bySource.set(source, new Set([name]));
    }
  }

  forget(name: string): void {
    this.#entries.delete(name);
  }

  /** Drops every value that depends on this source. */
  forgetSource(source: Source): void {
    for (const name of this.#bySource.get(source) ?? []) this.forget(name);
  }

  forgetAll(): void {
    this.#entries.clear();
  }

  /** Called for every dropped entry, for any reason. */
  #unlist({ sources }: Entry, name: string): void {
    for (const source of sources) {
      const names = this.#bySource.get(source);
      names?.delete(name);
      if (names?.size === 0) this.#bySource.delete(source);
    }
  }
}
