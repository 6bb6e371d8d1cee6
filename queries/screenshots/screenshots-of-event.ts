import type { ScreenshotRow } from '../../projections/screenshots/screenshots.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

const SQL =
  'select * from screenshots where tenant_id = $1 and event_id = $2 order by captured_at, screenshot_id limit 100';
/** Events that are known here: those in the event viewer, and those that raised an alert. */
const KNOWN = `
  select 1 from observations where tenant_id = $1 and event_id = $2
  union all select 1 from alerts where tenant_id = $1 and event_id = $2 limit 1`;

/** Screenshots of an event in chronological order; empty for a known event without any. */
export const screenshotsOfEvent: Query<{ eventId: string }, readonly ScreenshotRow[]> = async (reads, { eventId }) => {
  const rows = await reads.rows<ScreenshotRow>(SQL, [eventId]);
  if (rows.length > 0 || (await reads.one(KNOWN, [eventId]))) return rows;
  return notFound();
};
