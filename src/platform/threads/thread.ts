import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

export interface ThreadRequest<Request> {
  readonly id: number;
  readonly request: Request;
}
export interface ThreadResponse<Answer> {
  readonly id: number;
  readonly answer?: Answer;
  /** Set instead of `answer` if the request failed. */
  readonly error?: Error;
}

const RUNNER = new URL('../../../scripts/run.mjs', import.meta.url);

/**
 * A worker thread for long CPU work that would block the event loop. It runs one of our modules, which calls
 * `serveThread` once it is loaded. Starting one takes some tens of milliseconds. Requests, responses and `data` are
 * copied (structured clone).
 */
export class Thread<Request, Answer> {
  readonly #worker: Worker;
  readonly #pending = new Map<number, { resolve(answer: Answer): void; reject(error: Error): void }>();
  #requests = 0;
  #ended: Error | undefined;

  /** `entry` is the module's source; it is bundled and cached like the service itself. */
  constructor(entry: URL, data: unknown) {
    this.#worker = new Worker(RUNNER, { argv: [fileURLToPath(entry)], workerData: data, execArgv: [] });
    this.#worker.on('message', ({ id, answer, error }: ThreadResponse<Answer>) => {
      const waiting = this.#pending.get(id);
      this.#pending.delete(id);
      if (error) waiting?.reject(error);
      else waiting?.resolve(answer!);
    });
    this.#worker.on('error', (error) => this.#fail(error as Error));
    this.#worker.on('exit', (code) => this.#fail(new Error(`worker thread exited with code ${code}`)));
  }

  request(request: Request): Promise<Answer> {
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      const id = (this.#requests += 1);
      this.#pending.set(id, { resolve, reject });
      this.#worker.postMessage({ id, request } satisfies ThreadRequest<Request>);
    });
  }

  /** Terminates the thread at once, even during a request. */
  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #fail(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#pending.values()) reject(this.#ended);
    this.#pending.clear();
  }
}
