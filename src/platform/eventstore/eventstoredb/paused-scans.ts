import type { Position } from '../../kernel/event.ts';
import type { LogScan } from './log-scan.ts';

/** Readers of long histories at the same time: rebuilds, reactions behind, an audit verification. */
const MOST = 4;
/** A reader asks for its next page as soon as it has worked one. Until then the server holds the call for it. */
const CALL_TIMEOUT_MS = 2_000;

export interface PausedScan {
  readonly scan: LogScan;
  /**
   * The end of the log before the scan was opened. What it has reported beyond may be older than a later end: the next
   * event can be at the very place that it calls passed.
   */
  readonly known: Position;
}

interface Kept extends PausedScan {
  readonly timer: NodeJS.Timeout;
}

/**
 * Scans between two pages of a reader. Each waits for a short time for a page that begins where it stopped. Opening a
 * call for each page of a long history would take the server as long as a third of the reading.
 */
export class PausedScans {
  readonly #paused = new Map<string, Kept>();

  /** Keeps a scan of these streams that has reached a position. */
  keep(streams: string, position: Position, paused: PausedScan): void {
    const key = keyOf(streams, position);
    this.#drop(key);
    const [oldest] = this.#paused.size < MOST ? [] : this.#paused.keys();
    if (oldest !== undefined) this.#drop(oldest);
    this.#paused.set(key, { ...paused, timer: setTimeout(() => this.#drop(key), CALL_TIMEOUT_MS).unref() });
  }

  /** The scan that goes on after a position, if there is one. It belongs to the caller. */
  take(streams: string, after: Position): PausedScan | undefined {
    const key = keyOf(streams, after);
    const paused = this.#paused.get(key);
    if (!paused) return undefined;
    clearTimeout(paused.timer);
    this.#paused.delete(key);
    if (paused.scan.isOpen) return paused;
    paused.scan.close();
    return undefined;
  }

  close(): void {
    for (const key of this.#paused.keys()) this.#drop(key);
  }

  #drop(key: string): void {
    const paused = this.#paused.get(key);
    if (!paused) return;
    clearTimeout(paused.timer);
    this.#paused.delete(key);
    paused.scan.close();
  }
}

const keyOf = (streams: string, position: Position): string => `${position} ${streams}`;
