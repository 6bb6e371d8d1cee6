import type { Logger } from 'pino';

export interface ShutdownOptions {
  readonly log: Logger;
  /** Stops the application's parts in order. */
  stop(): Promise<void>;
  /** Milliseconds after which the process exits, even if some part does not stop. */
  readonly withinMs: number;
}

/** A supervisor may signal a whole group, whose members pass the signal on: within this time it counts once. */
const AGAIN_MS = 1_000;

/**
 * Ends the process on SIGTERM and SIGINT, and after an uncaught error, because the program's state is then unknown and a
 * supervisor restarts it. Both stop the parts in order, within `withinMs`. The exit code is 0 after a signal,
 * and 1 after an uncaught error, after a part that did not stop, and after a second signal, which ends the process at once.
 */
export function superviseProcess({ log, stop, withinMs }: ShutdownOptions): void {
  let ending = false;
  let since = 0;
  const end = (code: number) => {
    if (ending) return;
    ending = true;
    since = performance.now();
    if (code !== 0) process.exitCode = code;
    setTimeout(() => {
      log.error('the process exits although some parts have not stopped');
      process.exit(process.exitCode ?? 1);
    }, withinMs).unref();
    void stop().finally(() => process.exit(process.exitCode ?? 0));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (ending && performance.now() - since >= AGAIN_MS) {
        log.warn({ signal }, 'a second signal: the process exits at once');
        process.exit(1);
      }
      if (!ending) log.info({ signal }, 'stopping');
      end(0);
    });
  }
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error, event }, 'uncaught error: the process exits');
      end(1);
    });
  }
}
