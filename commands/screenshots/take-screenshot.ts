import type { ArrivalBudgets } from '../../src/platform/arrivals/arrival-budgets.ts';
import { screenshotCost } from '../../src/contexts/screenshots/domain/screenshot-budgets.ts';
import type { ImageType } from '../../src/contexts/screenshots/domain/image.ts';
import type { ScreenshotLocation } from '../../src/contexts/screenshots/domain/screenshot-location.ts';
import {
  screenshotLimitReason,
  screenshotDay,
  screenshotDayStream,
} from '../../src/contexts/screenshots/domain/screenshot-day.ts';
import type { AggregateReader } from '../../src/platform/kernel/aggregate.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { forbidden, limited } from '../../src/platform/kernel/failure.ts';

export interface TakeScreenshot {
  readonly screenshotId: string;
  readonly deviceId: string;
  readonly userId: string;
  readonly eventId: string;
  /** The day of the observation, which is known to be this device's. */
  readonly day: string;
  readonly origin: string;
  readonly capturedAt: string;
  readonly mediaType: ImageType;
  readonly width: number;
  readonly height: number;
  readonly picture: Buffer;
  /** The number of licensed people of the tenant. */
  readonly seats: number;
}

/** The write-side ports that taking a screenshot needs. */
export interface ScreenshotPorts {
  readonly aggregates: AggregateReader;
  readonly pictures: PictureKeeper;
  readonly arrivals: Pick<ArrivalBudgets, 'take' | 'giveBack'>;
}

/** Stores an image sealed. Returns false if there is no key because the person was erased. */
export interface PictureKeeper {
  keep(place: ScreenshotLocation, picture: Buffer): Promise<boolean>;
}

/** Stores the image, then records the event. A crash in between leaves an orphaned object, which the sweep deletes. */
export const takeScreenshot = defineCommand({
  name: 'TakeScreenshot',
  aggregate: screenshotDay,
  stream: ({ deviceId, day }: TakeScreenshot, { tenantId }) => screenshotDayStream(tenantId, deviceId, day),
  async prepare(
    { screenshotId, deviceId, userId, day, eventId, picture, seats }: TakeScreenshot,
    { aggregates, pictures, arrivals }: ScreenshotPorts,
    { tenantId },
  ) {
    const known = await aggregates.load(screenshotDay, screenshotDayStream(tenantId, deviceId, day));
    if (known.eventOf.has(screenshotId)) return undefined;
    const refusal = screenshotLimitReason(known, eventId);
    if (refusal) return refusal;
    const cost = screenshotCost(deviceId, seats, picture.length);
    const wait = await arrivals.take(tenantId, cost);
    if (wait > 0) return limited(Math.ceil(wait / 1_000));
    try {
      const kept = await pictures.keep({ tenantId, userId, deviceId, day, screenshotId }, picture);
      return kept ? undefined : forbidden('person_erased');
    } catch (error) {
      await arrivals.giveBack(tenantId, cost);
      throw error;
    }
  },
  decide(state, { picture, seats: _seats, ...taken }) {
    if (state.eventOf.has(taken.screenshotId)) return accept([]);
    return (
      screenshotLimitReason(state, taken.eventId) ??
      accept([{ type: 'ScreenshotTaken', data: { ...taken, bytes: picture.length } }])
    );
  },
  freshens: ['screenshots'],
});
