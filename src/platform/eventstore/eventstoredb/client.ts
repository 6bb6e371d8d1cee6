import type { Transform } from 'node:stream';
import { EventStoreDBClient } from '@eventstore/db-client';
import type { Grpc } from './client-runtime.ts';
import { endpointName, type ServerSettings } from './connection-string.ts';
import { Link, type Stub } from './link.ts';

export type Client = EventStoreDBClient;

/**
 * Members that the client keeps for its subclasses. Its version is pinned, and the tests of this adapter depend on
 * them.
 */
interface Extensible {
  supports: () => Promise<boolean>;
  getGRPCClient: (Service: Stub) => Promise<Grpc.Client>;
  handleError: (stub: Grpc.Client, error: Error) => Promise<void>;
  /** Calls that have not ended. */
  readonly disposableStreams: ReadonlySet<{ destroy?(): void }>;
}

const links = new WeakMap<Client, Link>();

/**
 * The vendor's client, version 6.2.1, without its unhandled errors, which end the process. Each problem and its fix:
 *
 *  - `handleError` is async and called without a catch. It waits for the next channel, and so rejects when no leader is
 *    found: `Link.failed`.
 *  - The search for the leader reads members in a callback that may throw, cannot be stopped, and asks nodes one after
 *    another: `findLeader`.
 *  - A channel whose creation failed for another reason than the search is cached forever: `Link` drops it.
 *  - A channel that is opened after `dispose` is never closed; `dispose` closes none: `Link.close`.
 *  - `dispose` waits for the end of each call. A call that the server has ended, and that nobody reads to its end, cannot
 *    be cancelled any more: `closeClient` destroys those.
 *  - An append starts its call in an async executor. If the channel was closed meanwhile, the error is unhandled:
 *    `Link` closes channels in a later tick.
 *  - Errors with incomplete trailers throw during conversion, in a listener of the call: the interceptor of `Link`.
 *  - A read or a subscription throws from `_transform` on an unreadable message, in a listener of the call or
 *    unhandled: `handlingErrors`.
 *  - A read or a subscription without a listener for `error` throws: `handlingErrors`.
 *  - The batch call keeps pending appends in one table for the whole process. An error of any client fails the appends
 *    of all, and a later reply throws. It is not used (`supports`); we have our own `BatchCall`.
 *  - The request for the server's supported methods has no deadline. It is not sent (`supports`); `server-methods.ts`
 *    sends one with a deadline.
 *
 * Further problems of its batch call: deadlines are times of day, so a wrong clock fails every append, and it does not
 * recognize a server that is "not ready".
 */
export function openClient(settings: ServerSettings, serial: number): Client {
  const { tls, user, connectionName, keepAliveIntervalMs, keepAliveTimeoutMs } = settings;
  const client = new EventStoreDBClient(
    {
      endpoint: endpointName(settings.hosts[0]),
      connectionName,
      keepAliveInterval: keepAliveIntervalMs,
      keepAliveTimeout: keepAliveTimeoutMs,
    },
    // It opens no channel of its own: this only determines whether credentials may be sent.
    { insecure: !tls },
    user,
  );
  const link = new Link(settings, serial);
  const inner = client as unknown as Extensible;
  inner.supports = () => Promise.resolve(false);
  inner.getGRPCClient = (Service) => link.stub(Service);
  inner.handleError = (stub, error) => Promise.resolve(link.failed(stub, error));
  client.readAll = withErrorHandling(client.readAll.bind(client));
  client.readStream = withErrorHandling(client.readStream.bind(client)) as Client['readStream'];
  client.subscribeToAll = withErrorHandling(client.subscribeToAll.bind(client)) as Client['subscribeToAll'];
  links.set(client, link);
  return client;
}

/** Ends every call of a client, then closes its channel, which `dispose` alone would leave open. */
export async function closeClient(client: Client): Promise<void> {
  const disposed = client.dispose();
  const open = [...(client as unknown as Extensible).disposableStreams];
  links.get(client)?.close();
  // In a later tick than the cancellation, which tells the server.
  setImmediate(() => {
    for (const call of open) call.destroy?.();
  });
  await disposed;
}

/** The node that the client is, or was last, connected to. */
export const connectedEndpoint = (client: Client): string | undefined => {
  const endpoint = links.get(client)?.endpoint;
  return endpoint && endpointName(endpoint);
};

const withErrorHandling =
  <Arguments extends unknown[], Events>(start: (...given: Arguments) => Events) =>
  (...given: Arguments): Events =>
    handlingErrors(start(...given) as unknown as Transform) as Events;

/** Makes any failure in these events end them with an error, which only their reader gets. */
function handlingErrors(events: Transform): Transform {
  events.on('error', () => undefined);
  const transform = events._transform.bind(events) as (...given: Parameters<Transform['_transform']>) => unknown;
  // Some errors that the client throws are strings.
  const fail = (error: unknown) => void events.destroy(error instanceof Error ? error : new Error(String(error)));
  events._transform = (...given) => {
    try {
      Promise.resolve(transform(...given)).catch(fail);
    } catch (error) {
      fail(error);
    }
  };
  return events;
}
