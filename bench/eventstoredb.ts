import { startEventStoreServer } from './eventstoredb/server.ts';
import { rows } from './eventstoredb/rows.ts';
import type { Row } from './measure.ts';

/**
 * The store on EventStoreDB compared with the plain client, on a server with an empty log for each row
 * (`EVENTSTORE_TEST_CONTROL`). With `EVENTSTORE_TEST_URL` all rows share a server, and those that start a service on it
 * refuse the log of the one before: name the rows to measure in `BENCH_ROWS`. Without both the stand-in of the tests runs
 * in a separate process, and figures have no target.
 */
export async function measure(): Promise<Row[]> {
  const measured: Row[] = [];
  const asked = process.env['BENCH_ROWS']?.split(',');
  for (const [name, row] of Object.entries(rows)) {
    if (asked && !asked.includes(name)) continue;
    const server = await startEventStoreServer();
    try {
      measured.push(...(await row(server)));
    } finally {
      await server.stop();
    }
  }
  return measured;
}
