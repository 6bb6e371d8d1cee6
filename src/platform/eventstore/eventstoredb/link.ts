import { ErrorType } from '@eventstore/db-client';
import { convertToCommandError } from '@eventstore/db-client/dist/utils/CommandError.js';
import { grpc, unavailableError, type Grpc } from './client-runtime.ts';
import { endpointName, type Endpoint, type ServerSettings } from './connection-string.ts';
import { findLeader } from './discovery.ts';

/** A generated stub of one of the server's services. */
export type Stub = new (address: never, credentials: never, options: Partial<Grpc.ClientOptions>) => Grpc.Client;

interface Opened {
  readonly to: Endpoint;
  readonly channel: Grpc.Channel;
  readonly stubs: Map<Stub, Grpc.Client>;
}

/** As large as an event can be that the server itself wrote. */
const MAX_BYTES_RECEIVED = 17 * 1024 * 1024;

/**
 * The connection of one client: opens a channel to the node that leads, and another after that node was lost. It takes the place of the
 * client's own, whose errors go unheard (`client.ts`). No method throws or rejects into nowhere.
 */
export class Link {
  readonly #settings: ServerSettings;
  readonly #credentials: Grpc.ChannelCredentials;
  readonly #options: Grpc.ChannelOptions;
  readonly #stopped = new AbortController();
  #opening: Promise<Opened> | undefined;
  #opened: Opened | undefined;
  #failed: Endpoint | undefined;
  /** Named by a node that does not lead. */
  #leader: Endpoint | undefined;

  /** @param serial Channels with the same options share one connection beneath them, a dead one as well. Each link has options of its own. */
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

  /** The stub of a service on the channel that is open now, or on a new one. */
  async stub(Service: Stub): Promise<Grpc.Client> {
    const { channel, stubs } = await (this.#opening ??= this.#open());
    const known = stubs.get(Service);
    if (known) return known;
    const stub = new Service(null as never, null as never, { channelOverride: channel, interceptors: [wellFormed] });
    stubs.set(Service, stub);
    return stub;
  }

  /** Where the latest channel leads, or led. */
  get endpoint(): Endpoint | undefined {
    return this.#opened?.to;
  }

  /** A call failed: another channel is opened for the next one, where this error says that the node is lost or does not lead. */
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

/** A call that starts on a closed channel throws; whoever has a stub in hand starts the call in this turn of the event loop. */
const close = (channel: Grpc.Channel): void => void setImmediate(() => channel.close());

/** Not what we cancelled ourselves: that is converted to no type of these. */
const LOST = new Set<unknown>([ErrorType.UNAVAILABLE, ErrorType.CANCELLED, ErrorType.NOT_LEADER]);

/** What the client reads from the trailers of an error without looking whether it is there. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  [ErrorType.NOT_LEADER]: ['leader-endpoint-host', 'leader-endpoint-port'],
  [ErrorType.STREAM_DELETED]: ['stream-name'],
  [ErrorType.WRONG_EXPECTED_VERSION]: ['stream-name', 'expected-version'],
  [ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED]: ['maximum-append-size'],
};

/** Passes on an error that lacks such a trailer as a node that is not ready: reading it would throw where nobody catches. */
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
