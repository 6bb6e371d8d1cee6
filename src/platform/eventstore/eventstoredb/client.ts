import type { Transform } from 'node:stream';
import { EventStoreDBClient } from '@eventstore/db-client';
import type { Grpc } from './client-runtime.ts';
import { endpointName, type ServerSettings } from './connection-string.ts';
import { Link, type Stub } from './link.ts';

export type Client = EventStoreDBClient;

/** Members that the client keeps for its subclasses; its version is pinned, and the tests of this adapter stand on them. */
interface Extensible {
  supports: () => Promise<boolean>;
  getGRPCClient: (Service: Stub) => Promise<Grpc.Client>;
  handleError: (stub: Grpc.Client, error: Error) => Promise<void>;
}

const links = new WeakMap<Client, Link>();

/**
 * The vendor's client, version 6.2.1, without the ways in which an error of it can reach nobody and so end the process:
 *
 * | what the client does | what is done about it |
 * |---|---|
 * | `handleError` is async and called without a catch. It waits for the next channel, and so rejects when no leader is found | `Link.failed` |
 * | the search for the leader reads members in a callback that may throw, cannot be stopped, and asks nodes one after another | `findLeader` |
 * | a channel whose creation failed otherwise than by the search is kept for good | `Link` forgets it |
 * | a channel that is opened after `dispose` is never closed; `dispose` closes none | `Link.close` |
 * | an append starts its call in an async executor: on a channel that was closed in between, the call throws, and nobody hears of it | `Link` closes channels in a later turn |
 * | errors whose trailers are incomplete throw while they are converted, in a listener of the call | the interceptor of `Link` |
 * | a read or a subscription throws from `_transform` on a message that it cannot read, in a listener of the call or unheard | `heard` |
 * | a read or a subscription without a listener for `error` throws | `heard` |
 * | the batch call keeps what is pending in one table for the whole process: an error of any client fails the appends of all, and a reply that comes after that throws | it is not used: `supports`; `BatchCall` is ours |
 * | the question which calls the server knows has no deadline | it is not asked: `supports`; `server-methods.ts` asks with one |
 *
 * Other reasons against its batch call: deadlines are times of day, so that a wrong clock fails every append, and a server that is "not
 * ready" is not recognised.
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
    // It opens no channel of its own: this only says whether the user may be sent.
    { insecure: !tls },
    user,
  );
  const link = new Link(settings, serial);
  const inner = client as unknown as Extensible;
  inner.supports = () => Promise.resolve(false);
  inner.getGRPCClient = (Service) => link.stub(Service);
  inner.handleError = (stub, error) => Promise.resolve(link.failed(stub, error));
  client.readAll = listening(client.readAll.bind(client));
  client.readStream = listening(client.readStream.bind(client)) as Client['readStream'];
  client.subscribeToAll = listening(client.subscribeToAll.bind(client)) as Client['subscribeToAll'];
  links.set(client, link);
  return client;
}

/** Ends every call of a client, then lets go of its connection, which `dispose` alone would keep for good. */
export async function closeClient(client: Client): Promise<void> {
  const disposed = client.dispose();
  links.get(client)?.close();
  await disposed;
}

/** The node that the client talks to, or talked to last. */
export const connectedEndpoint = (client: Client): string | undefined => {
  const endpoint = links.get(client)?.endpoint;
  return endpoint && endpointName(endpoint);
};

const listening =
  <Arguments extends unknown[], Events>(start: (...given: Arguments) => Events) =>
  (...given: Arguments): Events =>
    heard(start(...given) as unknown as Transform) as Events;

/** From now on whatever goes wrong in these events ends them with an error, which their reader gets, and nobody else. */
function heard(events: Transform): Transform {
  events.on('error', () => undefined);
  const transform = events._transform.bind(events) as (...given: Parameters<Transform['_transform']>) => unknown;
  // Some of what the client throws is text.
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
