import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { limited } from '../../../platform/kernel/failure.ts';
import { refusalOf, refusalOfFailure } from '../refusal.ts';
import { refuseAndClose } from './malformed-requests.ts';

/** Requests that may wait on a connection for the one before them. No browser, proxy or SDK pipelines more. */
export const MAX_WAITING = 8;

/**
 * Serves one request at a time per connection, in order (RFC 9112 §9.3.2). Node begins every request that arrives in one
 * packet at once, however many there are, whether or not their client reads a response: thousands of requests would run
 * before anybody else's. Beyond `MAX_WAITING` the connection is closed after a 429; what follows on it is not begun.
 */
export function serveInOrder(server: Server, handle: RequestListener): void {
  const lines = new WeakMap<Socket, Line>();
  const inOrder =
    (listener: RequestListener): RequestListener =>
    (request, response) => {
      const { socket } = request;
      const line = lines.get(socket) ?? new Line(socket);
      lines.set(socket, line);
      line.add({ request, response, listener });
    };
  server.on('request', inOrder(handle));
  server.on('checkExpectation', inOrder(refuseExpectation));
}

interface Waiting {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly listener: RequestListener;
}

/** The requests of one connection. */
class Line {
  readonly #socket: Socket;
  readonly #waiting: Waiting[] = [];
  #isBusy = false;
  #isClosed = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  add(next: Waiting): void {
    if (this.#isClosed) return;
    if (!this.#isBusy) return this.#begin(next);
    if (this.#waiting.length < MAX_WAITING) return void this.#waiting.push(next);
    this.#isClosed = true;
    this.#ignoreTheRest();
    this.#waiting.push({ ...next, listener: refusePipeline });
  }

  /**
   * Takes the connection from Node's parser, which would go on to make a request of everything that was sent, and read on
   * whenever a response ends. What still arrives is read and dropped, so that the client can read the last response.
   */
  #ignoreTheRest(): void {
    this.#socket.removeAllListeners('data');
    this.#socket.on('data', () => undefined);
  }

  /** After the last response of the connection its socket is not writable any more. */
  #begin({ request, response, listener }: Waiting): void {
    this.#isBusy = true;
    response.once('close', () => {
      this.#isBusy = false;
      const next = this.#waiting.shift();
      if (next && this.#socket.writable) this.#begin(next);
    });
    listener(request, response);
  }
}

const refusePipeline: RequestListener = (request, response) =>
  refuseAndClose(request, response, refusalOfFailure(limited(1)));

/** RFC 9110 §10.1.1: the only defined expectation is `100-continue`. */
const refuseExpectation: RequestListener = (request, response) =>
  refuseAndClose(request, response, refusalOf('expectation_failed'));
