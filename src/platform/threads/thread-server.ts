import { parentPort, workerData } from 'node:worker_threads';
import type { ThreadResponse, ThreadRequest } from './thread.ts';

/** The worker's side of a `Thread`: `open` gets the thread's data and returns the request handler. */
export function serveThread(open: (data: never) => (request: never) => Promise<unknown>): void {
  const answer = open(workerData as never);
  const port = parentPort!;
  port.on('message', ({ id, request }: ThreadRequest<never>) => {
    answer(request).then(
      (given) => port.postMessage({ id, answer: given } satisfies ThreadResponse<unknown>),
      (error: unknown) => port.postMessage({ id, error: error as Error } satisfies ThreadResponse<unknown>),
    );
  });
}
