import { connect, constants, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2';
import { whenAborted } from '../../../platform/kernel/when-aborted.ts';

export interface Http2Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

const CONNECT_MS = 5_000;
const RESPONSE_MS = 10_000;
/** APNs answers in a few hundred bytes. */
const MAX_BODY_BYTES = 16 * 1024;

class Http2Failed extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/**
 * Requests over one HTTP/2 connection to one origin, which is opened when it is needed and again after it was lost. An
 * address that the operator set: it is not guarded as one that an administrator chose.
 */
export class Http2Client {
  readonly #origin: string;
  readonly #ca: string | undefined;
  #session: ClientHttp2Session | undefined;

  constructor(origin: string, ca?: string) {
    this.#origin = origin;
    this.#ca = ca;
  }

  /** Throws an Error with a `code` if there is no complete response within ten seconds. */
  post(
    path: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<Http2Response> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(RESPONSE_MS)]);
    return new Promise((resolve, reject) => {
      if (limited.aborted) return reject(new Http2Failed('ETIMEDOUT'));
      const session = this.#open();
      const stream = session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/json',
        ...headers,
      });
      const settled = (settle: () => void) => {
        forget();
        session.removeListener('error', fail);
        settle();
      };
      const fail = (error: Error) => settled(() => reject(error));
      const giveUp = () => {
        stream.close(constants.NGHTTP2_CANCEL);
        // The connection may be dead without anybody having said so: the next request opens another one.
        if (this.#session === session) this.#session = undefined;
        session.close();
        fail(new Http2Failed('ETIMEDOUT'));
      };
      const forget = whenAborted(limited, giveUp);
      // The error of a connection that cannot be opened says more than that of its requests.
      session.once('error', fail);
      stream.on('error', fail);
      stream.once('response', (received) => {
        collected(stream, received).then(
          (response) => settled(() => resolve(response)),
          (error: Error) => fail(error),
        );
      });
      stream.once('close', () => fail(new Http2Failed('ECONNRESET')));
      stream.end(body);
    });
  }

  async close(): Promise<void> {
    this.#session?.destroy();
    this.#session = undefined;
  }

  #open(): ClientHttp2Session {
    if (this.#session && !this.#session.closed && !this.#session.destroyed) return this.#session;
    const session = connect(this.#origin, this.#ca === undefined ? {} : { ca: this.#ca });
    this.#session = session;
    const forget = () => {
      if (this.#session === session) this.#session = undefined;
    };
    // One listener for each request under way.
    session.setMaxListeners(0);
    // An idle connection keeps no process alive.
    session.unref();
    session.on('error', forget);
    session.on('close', forget);
    // The peer takes no more requests on this connection. Those under way end by themselves.
    session.on('goaway', forget);
    session.setTimeout(CONNECT_MS, () => {
      if (session.connecting) session.destroy(new Http2Failed('ETIMEDOUT'));
    });
    return session;
  }
}

async function collected(
  stream: AsyncIterable<Buffer>,
  received: IncomingHttpHeaders & { ':status'?: number },
): Promise<Http2Response> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Http2Failed('ETOOLARGE');
    chunks.push(chunk);
  }
  const headers = Object.fromEntries(
    Object.entries(received).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value?.toString()]),
  );
  return { status: received[':status'] ?? 0, headers, body: Buffer.concat(chunks).toString() };
}
