import { ErrorType } from '@eventstore/db-client';
import { convertToCommandError } from '@eventstore/db-client/dist/utils/CommandError.js';
import { grpc, unavailableError, type Grpc } from './client-runtime.ts';
import { endpointName, type Endpoint, type ServerSettings } from './connection-string.ts';
import { findLeader } from './discovery.ts';

/** A generated stub class of one of the server's services. */
export type Stub = new (address: never, credentials: never, options: Partial<Grpc.ClientOptions>) => Grpc.Client;

interface Opened {
  readonly to: Endpoint;
  readonly channel: Grpc.Channel;
  readonly stubs: Map<Stub, Grpc.Client>;
}

/** The size of the largest event that the server itself writes. */
const MAX_BYTES_RECEIVED = 17 * 1024 * 1024;

/**
 * The connection of one client: opens a channel to the leader, and a new one when that node is lost. It replaces the
 * client's own connection, whose errors are unhandled (`client.ts`). None of its errors goes unhandled.
 */
export class Link {
  readonly #settings: ServerSettings;
  readonly #credentials: Grpc.ChannelCredentials;
  readonly #options: Grpc.ChannelOptions;
  readonly #stopped = new AbortController();
  #opening: Promise<Opened> | undefined;
  #opened: Opened | undefined;
  #failed: Endpoint | undefined;
  /** Named by a node that is not the leader. */
  #leader: Endpoint | undefined;

  /**
   * @param serial Channels with the same options share one connection, even a dead one. So each link has its own
   * options.
   */
  constructor(settings: ServerSettings, serial: number) {
    const { tls, authorities, clientCertificate } = settings;
    this.#settings = settings;
    this.#credentials = tls
      ? grpc.credentials.createSsl(authorities, clientCertificate?.privateKey, clientCertificate?.certificate)
      : grpc.credentials.createInsecure();
    this.#options = {
      'grpc.keepalive_time_ms': settings.keepAliveIntervalMs,
      'grpc.keepalive_timeout_ms': settings.keepAliveTimeoutMs,
      'grpc.max_receive_message_length': MAX_BYTES_RECEIVED,
      'castellan.link': serial,
    };
  }

  /** Returns the stub of a service on the open channel, or on a new one. */
  async stub(Service: Stub): Promise<Grpc.Client> {
    const { channel, stubs } = await (this.#opening ??= this.#open());
    const known = stubs.get(Service);
    if (known) return known;
    const stub = new Service(null as never, null as never, { channelOverride: channel, interceptors: [wellFormed] });
    stubs.set(Service, stub);
    return stub;
  }

  /** The node of the latest channel. */
  get endpoint(): Endpoint | undefined {
    return this.#opened?.to;
  }

  /**
   * Reports a failed call. If the error says that the node is lost or not the leader, the next call gets a new channel.
   */
  failed(stub: Grpc.Client, error: Error): void {
    const { type, leader } = convertToCommandError(error) as { type?: unknown; leader?: Endpoint };
    if (!LOST.has(type) || !this.#opened || stub.getChannel() !== this.#opened.channel) return;
    this.#failed = this.#opened.to;
    this.#leader = leader;
    this.#opening = undefined;
    close(this.#opened.channel);
  }

  close(): void {
    this.#stopped.abort();
    if (this.#opened) close(this.#opened.channel);
  }

  #open(): Promise<Opened> {
    const opening = this.#dial();
    opening.catch(() => {
      if (this.#opening === opening) this.#opening = undefined;
    });
    return opening;
  }

  async #dial(): Promise<Opened> {
    const to = await this.#next();
    if (this.#stopped.signal.aborted) throw unavailableError('the connection has been closed');
    this.#leader = undefined;
    this.#opened = {
      to,
      channel: new grpc.Channel(endpointName(to), this.#credentials, this.#options),
      stubs: new Map(),
    };
    return this.#opened;
  }

  async #next(): Promise<Endpoint> {
    const { hosts, discovers } = this.#settings;
    if (this.#leader) return this.#leader;
    if (!discovers) return hosts[0];
    return findLeader({
      settings: this.#settings,
      credentials: this.#credentials,
      failed: this.#failed,
      stopped: this.#stopped.signal,
    });
  }
}

/**
 * Closes in a later tick: a call on a closed channel throws, and a caller that has a stub starts its call in this tick.
 */
const close = (channel: Grpc.Channel): void => void setImmediate(() => channel.close());

/** A call that we cancel ourselves has none of these types. */
const LOST = new Set<unknown>([ErrorType.UNAVAILABLE, ErrorType.CANCELLED, ErrorType.NOT_LEADER]);

/** Trailers that the client reads without checking that they exist. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  [ErrorType.NOT_LEADER]: ['leader-endpoint-host', 'leader-endpoint-port'],
  [ErrorType.STREAM_DELETED]: ['stream-name'],
  [ErrorType.WRONG_EXPECTED_VERSION]: ['stream-name', 'expected-version'],
  [ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED]: ['maximum-append-size'],
};

/** Converts an error that lacks such a trailer to UNAVAILABLE: reading it would throw an uncaught error. */
const wellFormed: Grpc.Interceptor = (options, nextCall) =>
  new grpc.InterceptingCall(nextCall(options), {
    start: (metadata, _listener, start) =>
      start(metadata, {
        onReceiveStatus(status, pass) {
          const [exception] = status.metadata.get('exception');
          const isWhole = (REQUIRED[String(exception)] ?? []).every((key) => status.metadata.get(key).length > 0);
          pass(
            isWhole
              ? status
              : { code: grpc.status.UNAVAILABLE, details: status.details, metadata: new grpc.Metadata() },
          );
        },
      }),
  });
