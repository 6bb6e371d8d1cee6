import type { Socket } from 'node:dgram';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GuardedDatagrams } from '../../../platform/outbound/guarded-datagrams.ts';
import type { ConfigOf } from '../domain/config.ts';
import { SinkFailed, type OutgoingRecord, type SinkRefusal, type Sink, type SinkLimits } from './sink.ts';

/** RFC 5426 §3.2 leaves the limit to the transport: the largest payload of UDP over IPv4. */
const MAX_DATAGRAM = 65_507;
/** A closed port is reported after the datagram was sent. */
const REPORT_MS = 20;

const LIMITS: SinkLimits = {
  batchRecords: 100,
  batchBytes: 256 * 1024,
  unconfirmedRecords: 500,
  unconfirmedBytes: 4 * 1024 * 1024,
  quietMs: 0,
  ageMs: 1_000,
  isUnacknowledged: true,
};

/** Syslog over UDP (RFC 5426). Nothing is acknowledged: datagrams that the network or the server drops are lost. */
export class SyslogDatagramSink implements Sink {
  readonly limits = LIMITS;
  readonly #config: ConfigOf<'syslog'>;
  readonly #open: GuardedDatagrams;
  readonly #explain: (error: unknown) => Promise<string>;
  #socket: Socket | undefined;
  #lost = false;

  constructor(
    config: ConfigOf<'syslog'>,
    { open, explain }: { readonly open: GuardedDatagrams; explain(error: unknown): Promise<string> },
  ) {
    this.#config = config;
    this.#open = open;
    this.#explain = explain;
  }

  async send(batch: readonly OutgoingRecord[], signal: AbortSignal): Promise<readonly SinkRefusal[]> {
    const socket = (this.#socket ??= await this.#connected());
    const refused: SinkRefusal[] = [];
    const sending: Promise<void>[] = [];
    for (const [index, { line }] of batch.entries()) {
      const datagram = Buffer.from(line);
      if (datagram.length > MAX_DATAGRAM) refused.push({ index, reason: 'the record is too large for UDP' });
      else sending.push(sent(socket, datagram));
    }
    await Promise.all(sending).catch(() => (this.#lost = true));
    signal.throwIfAborted();
    this.#failIfLost();
    return refused;
  }

  async confirm(signal: AbortSignal): Promise<void> {
    if (!this.#socket) return;
    await sleep(REPORT_MS, undefined, { signal });
    this.#failIfLost();
  }

  close(): void {
    this.#socket?.close();
    this.#socket = undefined;
    this.#lost = false;
  }

  async #connected(): Promise<Socket> {
    try {
      const socket = await this.#open(this.#config.host, this.#config.port);
      socket.on('error', () => (this.#lost = true));
      return socket;
    } catch (error) {
      throw new SinkFailed(await this.#explain(error), { cause: error });
    }
  }

  #failIfLost(): void {
    if (this.#lost) throw new SinkFailed('nothing listens at the address');
  }
}

const sent = (socket: Socket, datagram: Buffer): Promise<void> =>
  new Promise((resolve, reject) => socket.send(datagram, (error) => (error ? reject(error) : resolve())));
