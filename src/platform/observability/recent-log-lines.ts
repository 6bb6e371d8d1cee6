const MAX_LINES = 1_000;
const MAX_CHARACTERS = 4_000;
const REQUEST_LINE = '"module":"request"';

/** The latest log lines of this process, already redacted. The logger writes to this stream as well. */
export class RecentLogLines {
  readonly #lines: string[] = [];
  #next = 0;

  write(line: string): void {
    // One line a request would push out all others within seconds.
    if (line.includes(REQUEST_LINE)) return;
    this.#lines[this.#next] = line.length > MAX_CHARACTERS ? '' : line.trimEnd();
    this.#next = (this.#next + 1) % MAX_LINES;
  }

  /** Oldest first. */
  get all(): readonly string[] {
    return [...this.#lines.slice(this.#next), ...this.#lines.slice(0, this.#next)].filter((line) => line !== '');
  }
}

/** The log lines of this process. */
export const recentLogLines = new RecentLogLines();
