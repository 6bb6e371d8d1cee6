import type { Logger } from 'pino';

export interface ShutdownOptions {
  readonly log: Logger;
  /** Stops what was started, in order. */
  stop(): Promise<void>;
  /** The process ends no later than this after it was asked to, whatever does not stop. */
  readonly withinMs: number;
}

/**
 * Ends the process on SIGTERM and SIGINT, and after an error that nobody caught: what the program's state is then, nobody knows,
 * and a supervisor starts another one. Both stop in order, both within bounds; the second ends with exit code 1.
 */
export function superviseProcess({ log, stop, withinMs }: ShutdownOptions): void {
  let ending = false;
  const end = (code: number) => {
    if (ending) return;
    ending = true;
    if (code !== 0) process.exitCode = code;
    setTimeout(() => {
      log.error('the process ends before everything had stopped');
      process.exit(process.exitCode ?? 1);
    }, withinMs).unref();
    void stop().finally(() => process.exit(process.exitCode ?? 0));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (!ending) log.info({ signal }, 'stopping');
      end(0);
    });
  }
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error, event }, 'an error was caught by nobody: the process ends');
      end(1);
    });
  }
}
