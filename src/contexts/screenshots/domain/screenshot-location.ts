import { createHash } from 'node:crypto';
import { v5 } from 'uuid';
import type { TenantId } from '../../../platform/kernel/ids.ts';

/** The person and the day of a screenshot: all that is needed to find its image. */
export interface ScreenshotLocation {
  readonly tenantId: TenantId;
  readonly userId: string;
  readonly deviceId: string;
  readonly day: string;
  readonly screenshotId: string;
}

/** UUIDv5 namespace (RFC 9562 §5.5): one id per image and observation, however often it is sent. */
const SCREENSHOTS = '6f2c1d7e-9c0b-4f55-8d43-0f6f1c1f7a06';

export const screenshotIdOf = (deviceId: string, eventId: string, picture: Buffer): string =>
  v5(`${deviceId}|${eventId}|${createHash('sha256').update(picture).digest('hex')}`, SCREENSHOTS);
