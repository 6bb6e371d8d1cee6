import { randomUUID } from 'node:crypto';
import { startBenchApp } from '../app.ts';
import { HttpClient } from '../http-client.ts';
import { alternate, median, type Row } from '../measure.ts';
import { startPeer } from '../peers/peer.ts';
import type { EventStoreServer } from './server.ts';

const WARM = 300;
const COUNT = 60;
const ROUNDS = 8;

/**
 * The additional time for creating a group, with a claim on its name and read-your-writes, compared with the embedded
 * store, in plain appends.
 */
export async function groupCreation(server: EventStoreServer): Promise<Row[]> {
  const plain = await startPeer('eventstoredb-plain.ts', { url: server.url });
  const [outer, embedded] = [await startCreator(server.url), await startCreator()];
  const onePlain = async () => 1000 / (await plain.ask({ callers: 1, count: COUNT, batch: 1 }));
  await outer.p50(WARM);
  await embedded.p50(WARM);
  await onePlain();
  const [ours, theirs, append] = await alternate(ROUNDS, [() => outer.p50(COUNT), () => embedded.p50(COUNT), onePlain]);
  await outer.stop();
  await embedded.stop();
  await plain.stop();
  const ratio = median(ours!.map((value, round) => (value - theirs![round]!) / append![round]!));
  const name = `EventStoreDB: p50 of creating a group over HTTP, in plain appends (${median(append!).toFixed(2)} ms) more`;
  return [
    {
      name,
      unit: 'ms',
      ours: median(ours!),
      peer: median(theirs!),
      peerName: 'on the embedded store',
      ratio,
      target: server.target('<= 3'),
    },
  ];
}

async function startCreator(eventStoreUrl?: string) {
  const app = await startBenchApp(eventStoreUrl === undefined ? {} : { eventStoreUrl });
  const client = new HttpClient(app.url, 1);
  const headers = { ...app.headers, 'content-type': 'application/json' };
  const create = async () => {
    const { status, head } = await client.send(
      'POST',
      '/api/v1/admin/groups',
      headers,
      JSON.stringify({ name: randomUUID(), description: '' }),
    );
    if (status !== 201 || head.includes('x-stale')) throw new Error(`not created in time: ${status}`);
  };
  return {
    async p50(count: number): Promise<number> {
      const took: number[] = [];
      for (let n = 0; n < count; n += 1) {
        const started = performance.now();
        await create();
        took.push(performance.now() - started);
      }
      return median(took);
    },
    async stop(): Promise<void> {
      client.close();
      await app.stop();
    },
  };
}
