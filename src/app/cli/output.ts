import { wrapped } from './wrapped-text.ts';
import type { Terminal } from './terminal.ts';

/** The reader of standard output has gone, as `head` does after its lines. */
export class OutputClosed extends Error {
  constructor() {
    super('the output was closed before everything was written');
    this.name = 'OutputClosed';
  }
}

/** Where a command prints its result: text for people, or JSON for programs. Logs go to standard error. */
export class Output {
  readonly terminal: Terminal;
  readonly isJson: boolean;
  readonly #isClosed: () => boolean;

  constructor(terminal: Terminal, isJson: boolean, isClosed: () => boolean) {
    this.terminal = terminal;
    this.isJson = isJson;
    this.#isClosed = isClosed;
  }

  /** A line for people. Not printed with `--json`. */
  readonly say = (line: string): void => {
    if (this.isJson) return;
    const { stdout } = this.terminal;
    this.#write(wrapped(line, stdout.isTTY ? stdout.columns : undefined));
  };

  /** One record of a stream. Printed as a line of JSON in any case. */
  record(record: object): void {
    this.#write(jsonLine(record));
  }

  /** A line on standard error. */
  warn(line: string): void {
    const { stderr } = this.terminal;
    stderr.write(`${wrapped(line, stderr.isTTY ? stderr.columns : undefined)}\n`);
  }

  #write(line: string): void {
    if (this.#isClosed()) throw new OutputClosed();
    this.terminal.stdout.write(`${line}\n`);
  }
}

/** Positions may exceed what a JSON number holds exactly: they are text, as in the API. */
export const jsonLine = (value: object): string =>
  JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? String(member) : member));
