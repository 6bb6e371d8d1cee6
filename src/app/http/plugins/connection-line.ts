import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that may wait on a connection for the one before them. No browser, proxy or SDK pipelines more. */
export const MAX_WAITING = 8;

interface Waiting {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly listener: RequestListener;
}

const LINE = Symbol('requests of the connection');
type SocketWithLine = Socket & { [LINE]?: Line };

/** The requests of a connection, in their order. `refuse` answers the first one that may not even wait. */
export const lineOf = (socket: SocketWithLine, refuse: RequestListener): Line =>
  (socket[LINE] ??= new Line(socket, refuse));

/**
 * Runs `work` once everything that arrived completely on the connection is answered. Returns false if nothing of the kind is
 * under way: then `work` is for the caller to do.
 */
export const afterResponses = (socket: SocketWithLine, work: () => void): boolean =>
  socket[LINE]?.afterResponses(work) ?? false;

class Line {
  readonly #socket: Socket;
  readonly #refuse: RequestListener;
  readonly #waiting: Waiting[] = [];
  #atWork: IncomingMessage | undefined;
  #isClosed = false;
  #afterwards: (() => void) | undefined;

  constructor(socket: Socket, refuse: RequestListener) {
    this.#socket = socket;
    this.#refuse = refuse;
  }

  add(next: Waiting): void {
    if (this.#isClosed) return;
    if (!this.#atWork) return this.#begin(next);
    if (this.#waiting.length < MAX_WAITING) return void this.#waiting.push(next);
    this.#isClosed = true;
    this.#ignoreTheRest();
    this.#waiting.push({ ...next, listener: this.#refuse });
  }

  afterResponses(work: () => void): boolean {
    // The connection ends with a refusal anyway.
    if (this.#isClosed && this.#atWork) return true;
    if (this.#isClosed || !this.#atWork?.complete) return false;
    // The malformed bytes are its body.
    if (this.#waiting.at(-1)?.request.complete === false) this.#waiting.pop();
    this.#isClosed = true;
    this.#afterwards = work;
    return true;
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
    this.#atWork = request;
    response.once('close', () => {
      this.#atWork = undefined;
      const next = this.#waiting.shift();
      if (!this.#socket.writable) return;
      if (next) this.#begin(next);
      else this.#afterwards?.();
    });
    listener(request, response);
  }
}
