import { alternate, type Rounds } from '../measure.ts';
import { startPeer } from '../peers/peer.ts';
import type { EventStoreServer } from './server.ts';

export interface Load {
  readonly callers: number;
  /** Appends per round. */
  readonly count: number;
  readonly rounds: number;
  /** Events per append. */
  readonly batch?: number;
  /** Claims per append. */
  readonly claims?: number;
}

/** Events per second of the adapter and of the plain client, each in a separate process, in turns. */
export async function appendingBeside(
  server: EventStoreServer,
  { callers, count, rounds, batch = 1, claims = 0 }: Load,
): Promise<{ ours: Rounds; peer: Rounds }> {
  const adapter = await startPeer('eventstoredb-adapter.ts', { url: server.url });
  const plain = await startPeer('eventstoredb-plain.ts', { url: server.url });
  const ours = () => adapter.ask({ callers, count, batch, claims });
  const peer = () => plain.ask({ callers, count, batch });
  // Compiled by then, as a service is a minute after its start.
  await ours();
  await peer();
  const [our, their] = await alternate(rounds, [ours, peer]);
  await adapter.stop();
  await plain.stop();
  return { ours: our!, peer: their! };
}
