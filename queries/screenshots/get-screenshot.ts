import type { ScreenshotRow } from '../../projections/screenshots/screenshots.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** The row of one screenshot, with everything needed to find its image. */
export const getScreenshot: Query<{ screenshotId: string }, ScreenshotRow> = async (reads, { screenshotId }) =>
  (await reads.one<ScreenshotRow>('select * from screenshots where tenant_id = $1 and screenshot_id = $2', [
    screenshotId,
  ])) ?? notFound();
