import { compare, type Row } from '../measure.ts';
import { appendingBeside } from './appending.ts';
import type { EventStoreServer } from './server.ts';

/** One event with a new claim, compared with plain appends without one. */
export async function claimingAppends(server: EventStoreServer): Promise<Row[]> {
  const rows: Row[] = [];
  for (const load of [
    { callers: 1, count: 200, rounds: 12, claims: 1 },
    { callers: 32, count: 3_000, rounds: 5, claims: 1 },
  ]) {
    const { ours, peer } = await appendingBeside(server, load);
    rows.push(
      compare(
        `EventStoreDB: appends with one claim, ${load.callers} callers`,
        'events/s',
        server.target('>= 0.4'),
        ours,
        peer,
        'plain client without a claim',
      ),
    );
  }
  return rows;
}
