import { isIP, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as startTls } from 'node:tls';
import type { GuardedConnect } from '../../../platform/outbound/guarded-connection.ts';
import type { ConfigOf } from '../domain/config.ts';
import { SinkFailed, type OutgoingRecord, type SinkRefusal, type Sink, type SinkLimits } from './sink.ts';
import { protocolOf } from '../../../platform/outbound/protocol-problem.ts';
import { whenAborted } from '../../../platform/kernel/when-aborted.ts';

const CONNECT_MS = 10_000;
/** How long the server may leave data or the end of the connection unread. */
const CALL_TIMEOUT_MS = 15_000;
/**
 * The connection must have lasted this long after the last write. The end of a server that closed before our data
 * arrived is seen by then, and not taken for its response to our end.
 */
const SETTLE_MS = 250;

const LIMITS: SinkLimits = {
  batchRecords: 1_000,
  batchBytes: 1024 * 1024,
  // A confirmation takes a quarter of a second and a new connection, so a backlog is confirmed by age.
  unconfirmedRecords: 250_000,
  unconfirmedBytes: 256 * 1024 * 1024,
  quietMs: 1_000,
  ageMs: 5_000,
};

export interface StreamTransport {
  readonly connect: GuardedConnect;
  /** Undefined: plain TCP. Null: the system's authorities. */
  readonly authorities?: string | null;
  /** Why a connection failed, in fixed words. */
  explain(error: unknown): Promise<string>;
  /** Milliseconds until connection and handshake must be complete. Default: ten seconds. */
  readonly connectMs?: number;
}

/**
 * Syslog over TCP (RFC 6587 §3.4.1, octet counting) and TLS (RFC 5425). The protocol has no acknowledgement: what a
 * write hands to the kernel may be lost with the connection. So `confirm` ends the sending direction and waits for the
 * end of the server's: a server closes after it has read everything before our end. A reset, an early end or silence is
 * a failure, and everything since the last confirmation is sent again.
 */
export class SyslogStreamSink implements Sink {
  readonly limits = LIMITS;
  readonly #config: ConfigOf<'syslog'>;
  readonly #transport: StreamTransport;
  #connection: Connection | undefined;

  constructor(config: ConfigOf<'syslog'>, transport: StreamTransport) {
    this.#config = config;
    this.#transport = transport;
  }

  async send(batch: readonly OutgoingRecord[], signal: AbortSignal): Promise<readonly SinkRefusal[]> {
    const connection = (this.#connection ??= await this.#open(signal));
    const text = batch.map(({ line }) => `${Buffer.byteLength(line)} ${line}`).join('');
    await within(connection, signal, (done) => connection.socket.write(text, (error) => done(error ?? undefined)));
    connection.writtenAt = performance.now();
    return [];
  }

  async confirm(signal: AbortSignal): Promise<void> {
    const connection = this.#connection;
    if (!connection) return;
    await sleep(Math.max(0, connection.writtenAt + SETTLE_MS - performance.now()), undefined, { signal });
    await within(connection, signal, (done) => {
      connection.socket.once('end', () => done());
      connection.socket.end();
    });
    this.close();
  }

  close(): void {
    this.#connection?.socket.destroy();
    this.#connection = undefined;
  }

  async #open(signal: AbortSignal): Promise<Connection> {
    const { host, port } = this.#config;
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(this.#transport.connectMs ?? CONNECT_MS)]);
    try {
      const plain = await this.#transport.connect(host, port, deadline);
      const socket = this.#transport.authorities === undefined ? plain : await this.#secured(plain, deadline);
      return watched(socket);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof SinkFailed) throw error;
      throw new SinkFailed(await this.#transport.explain(error), { cause: error });
    }
  }

  /** RFC 5425 §5.2: the certificate must be valid for the configured name. */
  #secured(socket: Socket, signal: AbortSignal): Promise<Socket> {
    const { host } = this.#config;
    const { authorities } = this.#transport;
    return new Promise((resolve, reject) => {
      const secured = startTls({
        socket,
        host,
        ...(isIP(host) === 0 ? { servername: host } : {}),
        ...(authorities ? { ca: authorities } : {}),
        minVersion: 'TLSv1.2',
      });
      const fail = (error: Error) => {
        secured.destroy();
        socket.destroy();
        reject(error);
      };
      // A server that waits for lines of text waits for the end of our greeting, too.
      const giveUp = () => fail(new SinkFailed('it does not respond to TLS: its port may expect plain TCP'));
      const forget = whenAborted(signal, giveUp);
      secured.once('error', fail);
      secured.once('secureConnect', () => {
        forget();
        secured.removeListener('error', fail);
        resolve(secured);
      });
    });
  }
}

interface Connection {
  readonly socket: Socket;
  /** Why it can no longer be used. */
  lost: Error | undefined;
  /** What the server speaks, if that is not syslog. */
  spoken: 'tls' | 'http' | undefined;
  writtenAt: number;
}

const NOT_SYSLOG = {
  tls: 'it expects TLS at this port: set the protocol to tls',
  http: 'it speaks HTTP at this port, not syslog',
} as const;

function watched(socket: Socket): Connection {
  const connection: Connection = { socket, lost: undefined, spoken: undefined, writtenAt: 0 };
  const lose = (error: Error) => void (connection.lost ??= error);
  socket.on('error', lose);
  // The server may end only after we have.
  socket.on('end', () => socket.writableEnded || lose(new Error('the server ended first')));
  socket.on('close', () => lose(new Error('closed')));
  // Syslog servers send nothing. What one sends says what it is, and is dropped, so that its end is seen.
  socket.once('data', (first: Buffer) => (connection.spoken = protocolOf(first)));
  socket.resume();
  return connection;
}

/** Runs a step of the connection: it ends by itself, with the connection, by the signal, or in time. */
async function within(
  connection: Connection,
  signal: AbortSignal,
  step: (done: (error?: Error) => void) => void,
): Promise<void> {
  const { socket } = connection;
  if (connection.lost) throw lostFailure(connection);
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const settle = (error?: Error) => {
      clearTimeout(timer);
      forget();
      socket.removeListener('close', onClose);
      if (error) reject(error);
      else resolve();
    };
    const onClose = () => settle(lostFailure(connection));
    const giveUp = () => settle(signal.reason as Error);
    const timer = setTimeout(
      () => settle(new SinkFailed('the destination does not read what is sent')),
      CALL_TIMEOUT_MS,
    );
    const forget = whenAborted(signal, giveUp);
    socket.once('close', onClose);
    step((error) => settle(error && lostFailure(connection)));
  });
}

const lostFailure = ({ lost, spoken }: Connection): SinkFailed =>
  new SinkFailed(spoken ? NOT_SYSLOG[spoken] : 'the destination closed the connection', { cause: lost });
