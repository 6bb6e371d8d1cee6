import { screenshotViews, screenshotViewsStream } from '../../src/contexts/screenshots/domain/views.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface RecordScreenshotViews {
  readonly sessionId: string;
  readonly screenshotIds: readonly string[];
  readonly shown: 'picture' | 'address';
}

/** Before anything is shown: a look that could not be recorded is not granted. */
export const recordScreenshotViews = defineCommand({
  name: 'RecordScreenshotViews',
  aggregate: screenshotViews,
  tail: 1,
  stream: ({ sessionId }: RecordScreenshotViews, { tenantId }) => screenshotViewsStream(tenantId, sessionId),
  decide: (_state, { screenshotIds, shown }) =>
    accept(screenshotIds.map((screenshotId) => ({ type: 'ScreenshotViewed', data: { screenshotId, shown } }))),
});
