import { compare, type Row } from '../measure.ts';
import { appendingBeside } from './appending.ts';
import type { EventStoreServer } from './server.ts';

/** One event, no claim. */
export async function appends(server: EventStoreServer): Promise<Row[]> {
  const rows: Row[] = [];
  for (const load of [
    { callers: 1, count: 300, rounds: 12 },
    { callers: 32, count: 5_000, rounds: 5 },
    { callers: 256, count: 10_000, rounds: 5 },
  ]) {
    const { ours, peer } = await appendingBeside(server, load);
    rows.push(
      compare(
        `EventStoreDB: appends, ${load.callers} callers`,
        'events/s',
        server.target('>= 0.85'),
        ours,
        peer,
        'plain client',
      ),
    );
  }
  return rows;
}
