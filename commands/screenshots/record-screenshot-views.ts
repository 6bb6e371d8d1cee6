import { screenshotViews, screenshotViewsStream } from '../../src/contexts/screenshots/domain/views.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface RecordScreenshotViews {
  readonly sessionId: string;
  readonly screenshotIds: readonly string[];
  readonly shown: 'picture' | 'address';
}

/** Recorded before anything is shown: without a record there is no access. */
export const recordScreenshotViews = defineCommand({
  name: 'RecordScreenshotViews',
  aggregate: screenshotViews,
  tail: 1,
  stream: ({ sessionId }: RecordScreenshotViews, { tenantId }) => screenshotViewsStream(tenantId, sessionId),
  decide: (_state, { screenshotIds, shown }) =>
    accept(screenshotIds.map((screenshotId) => ({ type: 'ScreenshotViewed', data: { screenshotId, shown } }))),
});
