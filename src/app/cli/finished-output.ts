import type { Writable } from 'node:stream';

/** Waits until everything that was written to these streams has left the process, or their reader has gone. */
export async function finished(...outputs: readonly Writable[]): Promise<void> {
  await Promise.all(outputs.map((output) => new Promise((resolve) => output.write('', resolve))));
}
