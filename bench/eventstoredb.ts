import { startEventStoreServer } from './eventstoredb/server.ts';
import { rows } from './eventstoredb/rows.ts';
import type { Row } from './measure.ts';

/**
 * The store on EventStoreDB compared with the plain client. `EVENTSTORE_TEST_URL` names a server, whose log should be
 * empty: one of the rows starts a whole service on it. Without it the stand-in of the tests runs in a separate process,
 * and figures have no target.
 */
export async function measure(): Promise<Row[]> {
  const measured: Row[] = [];
  for (const row of rows) {
    const server = await startEventStoreServer();
    try {
      measured.push(...(await row(server)));
    } finally {
      await server.stop();
    }
  }
  return measured;
}
