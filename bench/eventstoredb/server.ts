import { startPeer } from '../peers/peer.ts';

export interface EventStoreServer {
  readonly url: string;
  /** Targets apply to a real server; the stand-in's figures are only reported. */
  target(words: string): string;
  stop(): Promise<void>;
}

/** The server that `EVENTSTORE_TEST_URL` names, or else a stand-in. */
export async function startEventStoreServer(): Promise<EventStoreServer> {
  const given = process.env['EVENTSTORE_TEST_URL'];
  if (given !== undefined) return { url: given, target: (words) => words, stop: async () => undefined };
  const standIn = await startPeer('eventstoredb-stand-in.ts', {});
  const port = await standIn.ask({});
  return {
    url: `esdb://127.0.0.1:${port}?tls=false`,
    target: (words) => `report; on a real server ${words}`,
    stop: () => standIn.stop(),
  };
}
