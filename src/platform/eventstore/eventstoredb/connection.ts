import { EventStoreUnavailable } from '../port.ts';
import { closeClient, openClient, type Client } from './client.ts';
import type { ServerSettings } from './connection-string.ts';
import { isSilence, isTransient, toKnownError } from './failures.ts';

/** How many clients this process has opened. */
let opened = 0;

/**
 * Holds one client at a time. A client whose peer no longer responds is discarded, and the next call opens a new one.
 */
export class Connection {
  readonly #settings: ServerSettings;
  readonly #listeners = new Set<() => void>();
  #client: Client | undefined;
  #lastHeard = 0;
  #closed = false;

  /** Does not connect before the first call. */
  constructor(settings: ServerSettings) {
    this.#settings = settings;
    this.#client = this.#open();
  }

  /** Runs a call and watches for responses; the call reports signs of life with `heard`. */
  async call<T>(work: (client: Client, heard: () => void) => Promise<T>): Promise<T> {
    if (this.#closed) throw new EventStoreUnavailable('the event store has been closed');
    this.#client ??= this.#open();
    const client = this.#client;
    const started = performance.now();
    const heard = () => {
      if (client === this.#client) this.#lastHeard = performance.now();
    };
    try {
      const answer = await work(client, heard);
      heard();
      return answer;
    } catch (error) {
      if (!isTransient(error)) heard();
      // A failed call is no reason to abort others that get responses.
      else if (isSilence(error) && this.#lastHeard < started) this.#discard(client);
      throw toKnownError(error);
    }
  }

  /** Calls back when a client was discarded: its calls end without a response. */
  onDiscard(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const client = this.#client;
    this.#client = undefined;
    for (const listener of this.#listeners) listener();
    if (client) await closeClient(client);
  }

  /** Only discards the current client: several calls that fail together discard one client between them. */
  #discard(client: Client): void {
    if (client !== this.#client) return;
    this.#client = undefined;
    for (const listener of this.#listeners) listener();
    closeClient(client).catch(() => undefined);
  }

  #open(): Client {
    opened += 1;
    return openClient(this.#settings, opened);
  }
}
