import { EventStoreDBClient } from '@eventstore/db-client';

export type Client = EventStoreDBClient;

/** Members that the client keeps for its subclasses; its version is pinned, and the tests of this adapter stand on them. */
interface Extensible {
  supports: () => Promise<boolean>;
  getChannel: () => Promise<Channel>;
}

interface Channel {
  close(): void;
}

const channels = new WeakMap<Client, Channel>();

/**
 * A client that never uses its own implementation of the batch call; `BatchCall` is ours. Of it, version 6.2.1 keeps
 * what is pending in one table for the whole process, so an error of any client fails the appends of all of them and a
 * late answer ends the process; deadlines are times of day, so a clock that is wrong fails every append; a server that is
 * "not ready" is not recognised; and the question whether the server knows the call has no deadline at all.
 */
export function openClient(connectionString: string): Client {
  const client = EventStoreDBClient.connectionString(connectionString);
  const extended = client as unknown as Extensible;
  extended.supports = async () => false;
  const getChannel = extended.getChannel;
  extended.getChannel = async () => {
    const channel = await getChannel();
    channels.set(client, channel);
    return channel;
  };
  return client;
}

/** Ends every call of a client, then lets go of its connection, which `dispose` alone would keep for good. */
export async function closeClient(client: Client): Promise<void> {
  await client.dispose();
  channels.get(client)?.close();
}
