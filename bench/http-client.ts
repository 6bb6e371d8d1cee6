import { connect, type Socket } from 'node:net';

export interface HttpResponse {
  readonly status: number;
  /** Status line and headers, unparsed. */
  readonly head: string;
  readonly body: string;
}

/**
 * One kept-alive connection. It shares process and cores with the measured service, so it implements a minimum of HTTP:
 * bodies with a length, one at a time.
 */
class Connection {
  readonly #host: string;
  readonly #port: number;
  #socket: Socket;
  #received = '';
  #waiting: { readonly resolve: (answer: HttpResponse) => void; readonly reject: (error: Error) => void } | undefined;

  constructor(host: string, port: number) {
    this.#host = host;
    this.#port = port;
    this.#socket = this.#open();
  }

  /** A server closes connections that were idle while another side was measured. */
  #open(): Socket {
    const socket = connect({ host: this.#host, port: this.#port, noDelay: true });
    socket.setEncoding('latin1').on('data', (text: string) => this.#take(text));
    socket.on('error', () => undefined);
    return socket.on('close', () => this.#waiting?.reject(new Error('the server closed the connection')));
  }

  ask(request: string): Promise<HttpResponse> {
    if (this.#socket.destroyed || this.#socket.readableEnded) this.#socket = this.#open();
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#received += text;
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.#received.slice(0, end);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#received.length < end + 4 + length) return;
    const body = this.#received.slice(end + 4);
    this.#received = '';
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve({ status: Number(head.slice(9, 12)), head, body });
  }
}

/** As many concurrent requests as connections; further ones wait for one. */
export class HttpClient {
  readonly #host: string;
  readonly #idle: Connection[];
  readonly #all: readonly Connection[];
  readonly #queue: ((connection: Connection) => void)[] = [];

  constructor(url: string, connections: number) {
    const { hostname, port, host } = new URL(url);
    this.#host = host;
    this.#all = Array.from({ length: connections }, () => new Connection(hostname, Number(port)));
    this.#idle = [...this.#all];
  }

  async send(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>> = {},
    body = '',
  ): Promise<HttpResponse> {
    let request = `${method} ${path} HTTP/1.1\r\nhost: ${this.#host}\r\n`;
    for (const [name, value] of Object.entries(headers)) request += `${name}: ${value}\r\n`;
    if (method !== 'GET') request += `content-length: ${Buffer.byteLength(body)}\r\n`;
    const connection = this.#idle.pop() ?? (await new Promise<Connection>((resolve) => this.#queue.push(resolve)));
    const answer = await connection.ask(`${request}\r\n${body}`);
    const next = this.#queue.shift();
    if (next) next(connection);
    else this.#idle.push(connection);
    return answer;
  }

  close(): void {
    for (const connection of this.#all) connection.close();
  }
}
