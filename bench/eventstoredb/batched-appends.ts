import { compare, type Row } from '../measure.ts';
import { appendingBeside } from './appending.ts';
import type { EventStoreServer } from './server.ts';

export async function batchedAppends(server: EventStoreServer): Promise<Row[]> {
  const { ours, peer } = await appendingBeside(server, { callers: 8, count: 200, rounds: 7, batch: 100 });
  return [
    compare(
      'EventStoreDB: appends, 8 callers, batches of 100',
      'events/s',
      server.target('>= 0.9'),
      ours,
      peer,
      'plain client',
    ),
  ];
}
