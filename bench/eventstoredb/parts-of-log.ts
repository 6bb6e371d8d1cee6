import { availableParallelism } from 'node:os';
import { EventStoreDBClient } from '@eventstore/db-client';
import { EventStoreDbEventStore } from '../../src/platform/eventstore/eventstoredb/eventstoredb-event-store.ts';
import { alternate, compare, perSecond, type Row } from '../measure.ts';
import { startPeer, type Peer } from '../peers/peer.ts';
import { EVENTS, writeHistory } from './all-stream.ts';
import type { EventStoreServer } from './server.ts';

const PAGE = 2_000;

/**
 * Reading the same log in as many processes as there are cores, each a part of it, compared with one. Only reported: the
 * server shares the cores.
 */
export async function readPartsOfLog(server: EventStoreServer): Promise<Row[]> {
  const store = new EventStoreDbEventStore(server.url, { timeoutMs: 60_000 });
  const plain = EventStoreDBClient.connectionString(server.url);
  const many = availableParallelism();
  const readers: Peer[] = [];
  try {
    const before = await store.head();
    await writeHistory(plain);
    const each = Math.floor(EVENTS / many);
    const parts = await beginnings(store, before, each, many);
    for (let n = 0; n < many; n += 1) readers.push(await startPeer('eventstoredb-part-reader.ts', { url: server.url }));
    const ask = (reader: number, part: number, count: number) =>
      readers[reader]!.ask({ after: Number(parts[part]), count });
    const ours = () => perSecond(each * many, () => Promise.all(readers.map((_reader, at) => ask(at, at, each))));
    const one = () => perSecond(each * many, () => ask(0, 0, each * many));
    const [together, alone] = await alternate(3, [ours, one]);
    const name = `${server.name}: the same feed, ${many} readers, each a part of the log`;
    return [compare(name, 'events/s', 'report', together!, alone!, 'one reader')];
  } finally {
    await Promise.all(readers.map((reader) => reader.stop()));
    await plain.dispose();
    await store.close();
  }
}

/** The positions after which parts of `each` events begin. */
async function beginnings(
  store: EventStoreDbEventStore,
  before: bigint,
  each: number,
  parts: number,
): Promise<readonly bigint[]> {
  const found = [before];
  let at = before;
  for (let seen = 0; found.length < parts;) {
    const { events, position } = await store.readAll(at, Math.min(PAGE, each * found.length - seen));
    if (position === at) throw new Error(`the log ends after ${seen} events`);
    seen += events.length;
    at = position;
    if (seen === each * found.length) found.push(events.at(-1)!.position);
  }
  return found;
}
