import { isIP, type Socket } from 'node:net';
import { connect as startTls } from 'node:tls';
import type { GuardedConnect } from '../../../platform/outbound/guarded-connection.ts';
import type { ConfigOf } from '../domain/config.ts';
import { SinkFailed, type OutgoingRecord, type Refusal, type Sink, type SinkLimits } from './sink.ts';

const CONNECT_MS = 10_000;
/** How long the server may leave data or the end of the connection unread. */
const PATIENCE_MS = 15_000;

const LIMITS: SinkLimits = {
  batchRecords: 1_000,
  batchBytes: 1024 * 1024,
  unconfirmedRecords: 20_000,
  unconfirmedBytes: 16 * 1024 * 1024,
  quietMs: 1_000,
  ageMs: 5_000,
};

export interface StreamTransport {
  readonly connect: GuardedConnect;
  /** Undefined: plain TCP. Null: the system's authorities. */
  readonly authorities?: string | null;
  /** Why a connection failed, in fixed words. */
  explain(error: unknown): Promise<string>;
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
  #socket: Socket | undefined;
  #lost: Error | undefined;

  constructor(config: ConfigOf<'syslog'>, transport: StreamTransport) {
    this.#config = config;
    this.#transport = transport;
  }

  async send(batch: readonly OutgoingRecord[], signal: AbortSignal): Promise<readonly Refusal[]> {
    const socket = (this.#socket ??= await this.#open(signal));
    const text = batch.map(({ line }) => `${Buffer.byteLength(line)} ${line}`).join('');
    await this.#within(signal, (done) => socket.write(text, (error) => done(error ?? undefined)));
    return [];
  }

  async confirm(signal: AbortSignal): Promise<void> {
    const socket = this.#socket;
    if (!socket) return;
    await this.#within(signal, (done) => {
      socket.once('end', () => done());
      socket.end();
    });
    this.close();
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
    this.#lost = undefined;
  }

  async #open(signal: AbortSignal): Promise<Socket> {
    const { host, port } = this.#config;
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]);
    try {
      const plain = await this.#transport.connect(host, port, deadline);
      const socket = this.#transport.authorities === undefined ? plain : await this.#secured(plain, deadline);
      socket.on('error', (error) => (this.#lost ??= error));
      // The server may end only after we have.
      socket.on('end', () => {
        if (!socket.writableEnded) this.#lost ??= new Error('ended');
      });
      socket.on('close', () => (this.#lost ??= new Error('closed')));
      // Syslog servers send nothing. What one sends is dropped, so that its end is seen.
      socket.resume();
      return socket;
    } catch (error) {
      signal.throwIfAborted();
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
      const giveUp = () => fail(signal.reason as Error);
      signal.addEventListener('abort', giveUp, { once: true });
      secured.once('error', fail);
      secured.once('secureConnect', () => {
        signal.removeEventListener('abort', giveUp);
        secured.removeListener('error', fail);
        resolve(secured);
      });
    });
  }

  /** Runs a step of the connection: it ends by itself, with the connection, by the signal, or in time. */
  async #within(signal: AbortSignal, step: (done: (error?: Error) => void) => void): Promise<void> {
    const socket = this.#socket!;
    if (this.#lost) throw this.#lostFailure();
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const settle = (error?: Error) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        socket.removeListener('close', onClose);
        if (error) reject(error);
        else resolve();
      };
      const onClose = () => settle(this.#lostFailure());
      const giveUp = () => settle(signal.reason as Error);
      const timer = setTimeout(() => settle(new SinkFailed('the destination does not read what is sent')), PATIENCE_MS);
      signal.addEventListener('abort', giveUp, { once: true });
      socket.once('close', onClose);
      step((error) => settle(error && this.#lostFailure()));
    });
  }

  #lostFailure(): SinkFailed {
    return new SinkFailed('the destination closed the connection', { cause: this.#lost });
  }
}
