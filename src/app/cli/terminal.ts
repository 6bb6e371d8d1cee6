import type { Writable } from 'node:stream';

/** What a command may use of the process that runs it. Tests pass their own. */
export interface Terminal {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly env: NodeJS.ProcessEnv;
}

export const processTerminal = (): Terminal => ({
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
});

/** A person can be asked: the question goes to standard error, so that standard output may be piped. */
export const isInteractive = ({ stdin, stderr }: Terminal): boolean => stdin.isTTY === true && stderr.isTTY === true;
