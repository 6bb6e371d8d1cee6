import type { ScreenshotRow } from '../../projections/screenshots/screenshots.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

const SQL =
  'select * from screenshots where tenant_id = $1 and event_id = $2 order by captured_at, screenshot_id limit 100';
/** What kinds of events there is a row of: those that the viewer lists, and those that raised an alert. */
const KNOWN = `
  select 1 from observations where tenant_id = $1 and event_id = $2
  union all select 1 from alerts where tenant_id = $1 and event_id = $2 limit 1`;

/** In the order in which they were taken; none for an event that has none. */
export const screenshotsOfEvent: Query<{ eventId: string }, readonly ScreenshotRow[]> = async (reads, { eventId }) => {
  const rows = await reads.rows<ScreenshotRow>(SQL, [eventId]);
  if (rows.length > 0 || (await reads.one(KNOWN, [eventId]))) return rows;
  return notFound();
};
