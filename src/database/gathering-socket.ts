import { Socket } from 'node:net';

/**
 * A socket that sends what is written to it within one turn of the event loop, promises that settle in it included, with
 * one system call: statements that are pipelined leave together, and each call costs more than encoding a statement does.
 */
export class GatheringSocket extends Socket {
  #gathering = false;

  override write: Socket['write'] = (...written: unknown[]) => {
    this.#gather();
    return super.write(...(written as [string]));
  };

  #gather(): void {
    if (this.#gathering) return;
    this.#gathering = true;
    this.cork();
    queueMicrotask(() =>
      process.nextTick(() => {
        this.#gathering = false;
        this.uncork();
      }),
    );
  }
}
