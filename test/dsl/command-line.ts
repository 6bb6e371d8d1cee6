import { PassThrough, Writable } from 'node:stream';
import { runCastellan } from '../../src/app/cli/program.ts';
import type { WithApplication } from '../../src/app/cli/application.ts';
import type { Terminal } from '../../src/app/cli/terminal.ts';

class Printed extends Writable {
  text = '';
  readonly isTTY: boolean;
  readonly columns: number | undefined;

  constructor(columns: number | undefined) {
    super();
    this.isTTY = columns !== undefined;
    this.columns = columns;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

export interface TerminalOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Width of the terminal. Without it, input and output are pipes. */
  readonly columns?: number;
  /** What the person types. */
  readonly typed?: string;
}

export interface TestTerminal extends Terminal {
  readonly stdout: Printed;
  readonly stderr: Printed;
}

export function testTerminal({ env = {}, columns, typed }: TerminalOptions = {}): TestTerminal {
  const stdin = Object.assign(new PassThrough(), { isTTY: columns !== undefined });
  if (typed === undefined) stdin.end();
  else stdin.write(`${typed}\n`);
  return { stdin, stdout: new Printed(columns), stderr: new Printed(columns), env };
}

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of an operator in this process, by default on what the environment names. */
export async function castellan(
  argv: readonly string[],
  options: TerminalOptions = {},
  withApplication?: WithApplication,
): Promise<Ran> {
  const terminal = testTerminal(options);
  const code = await runCastellan(argv, terminal, withApplication);
  return { code, stdout: terminal.stdout.text, stderr: terminal.stderr.text };
}
