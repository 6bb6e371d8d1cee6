import type { ScreenshotRow } from '../../projections/screenshots/screenshots.ts';
import type { Query } from '../../src/kernel/query.ts';

const SQL = 'select * from screenshots where tenant_id = $1 and event_id = $2 order by captured_at, screenshot_id limit 100';

/** In the order in which they were taken; none for an event that has none, or that there is not. */
export const screenshotsOfEvent: Query<{ eventId: string }, readonly ScreenshotRow[]> = (reads, { eventId }) => reads.rows<ScreenshotRow>(SQL, [eventId]);
