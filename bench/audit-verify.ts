import pg from 'pg';
import { openAlertHistory, openEvidence, verifying } from './alert-history.ts';
import { alternate, compare, perSecond, type Row } from './measure.ts';

const ENTRIES = 200_000;

/**
 * Verifying a chain of 200,000 entries (log replayed, table compared row by row), compared with reading their events in
 * pages.
 */
export async function measure(): Promise<Row[]> {
  const history = await openAlertHistory(ENTRIES);
  const evidence = await openEvidence(history);
  const verify = verifying(evidence, ENTRIES);
  const reader = new pg.Pool({ ...history.config, max: 1 });
  const plainRead = () =>
    perSecond(ENTRIES, async () => {
      for (let position = '0'; ;) {
        const { rows } = await reader.query<{ position: string }>({
          name: 'page',
          text: 'select * from events where position > $1 order by position limit 5000',
          values: [position],
        });
        if (rows.length === 0) return;
        position = rows.at(-1)!.position;
      }
    });
  const [verified, read] = await alternate(5, [() => perSecond(ENTRIES, verify), plainRead]);
  await reader.end();
  await history.stop();
  return [
    compare(
      'audit verify over 200,000 entries, against the plain paged read of their events',
      'events/s',
      '>= 0.4',
      verified!,
      read!,
      'read',
    ),
  ];
}
