import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { screenshotEvents } from '../../src/contexts/screenshots/domain/events.ts';
import type { ImageType } from '../../src/contexts/screenshots/domain/image.ts';
import { ERASED } from '../../src/platform/kernel/event.ts';
import {
  at,
  day,
  defineReadModel,
  id,
  integer,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  screenshot_id: id,
  event_id: id,
  user_id: id,
  device_id: id,
  day,
  origin: text,
  captured_at: timestamp,
  received_at: timestamp,
  media_type: text as Column<ImageType>,
  width: integer,
  height: integer,
  bytes: integer,
};
export type ScreenshotRow = Row<{ columns: typeof columns }>;

/** All screenshots. Rows are deleted with their person, and by retention with their day. */
export const screenshots = defineReadModel({
  name: 'screenshots',
  version: 1,
  lane: 'telemetry',
  columns,
  key: ['screenshot_id'],
  indexes: [['event_id', 'captured_at'], ['user_id'], ['day']],
  families: [screenshotEvents, employeeEvents],
  on: {
    ScreenshotTaken: (event) => ({
      key: { screenshot_id: event.data.screenshotId },
      fold: (row: ScreenshotRow | undefined) => {
        const { screenshotId, eventId, userId, deviceId, origin, capturedAt, mediaType, width, height, bytes } =
          event.data;
        // The person was erased: there is nothing to show.
        if (row || origin === ERASED) return row;
        return {
          screenshot_id: screenshotId,
          event_id: eventId,
          user_id: userId,
          device_id: deviceId,
          day: event.data.day,
          origin,
          captured_at: capturedAt,
          received_at: at(event),
          media_type: mediaType,
          width,
          height,
          bytes,
        };
      },
    }),
    EmployeeDeleted: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});
