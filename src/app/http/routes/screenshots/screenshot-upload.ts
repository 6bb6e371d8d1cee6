import { z } from 'zod';
import { takeScreenshot } from '../../../../../commands/screenshots/take-screenshot.ts';
import { ImageRefused } from '../../../../contexts/screenshots/domain/image-parts.ts';
import { MAX_IMAGE_BYTES, readImage, type Image } from '../../../../contexts/screenshots/domain/image.ts';
import { screenshotIdOf } from '../../../../contexts/screenshots/domain/screenshot-location.ts';
import { screenshotDayStream } from '../../../../contexts/screenshots/domain/screenshot-day.ts';
import { acceptedDays } from '../../../../contexts/telemetry/domain/admission.ts';
import {
  FailureError,
  forbidden,
  invalid,
  orThrow,
  temporarilyUnavailable,
} from '../../../../platform/kernel/failure.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { ObjectStoreUnavailable } from '../../../../platform/objects/object-store.ts';
import { observedDay } from '../../../../contexts/screenshots/observed-day.ts';
import type { ExtensionResponses } from '../../../../contexts/policies/extension-responses.ts';
import { multipartForm, type UploadedFile } from '../../multipart-form.ts';
import type { DevicePrincipal } from '../../principal.ts';
import type { HandlerContext } from '../../route.ts';
import {
  retentionOf,
  type StreamRetention,
  type TelemetryRetentionDependencies,
} from '../../../../contexts/telemetry/telemetry-retention.ts';
import type { AggregateLoader } from '../../../../platform/execution/aggregate-loader.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';
import { parsedUrl } from '../../../../platform/kernel/parsed-url.ts';

export interface ScreenshotUploadDependencies extends TelemetryRetentionDependencies {
  readonly extensionResponses: ExtensionResponses;
  readonly streamRetention: StreamRetention;
  readonly loader: AggregateLoader;
  readonly lookups: Lookups;
}

const DAY_MS = 86_400_000;
const LONGEST_ORIGIN = 300;
/** Media types of clients that do not know the actual type. */
const UNDECLARED = new Set(['', 'text/plain', 'application/octet-stream']);

/** The origin of a web page (RFC 6454): scheme, host and port, as browsers serialize it. */
const origin = z
  .string()
  .max(LONGEST_ORIGIN)
  .transform((text, context) => {
    const url = parsedUrl(text);
    const isOrigin =
      (url?.protocol === 'https:' || url?.protocol === 'http:') &&
      url.username === '' &&
      url.password === '' &&
      url.pathname === '/' &&
      url.search === '' &&
      url.hash === '';
    if (isOrigin) return url.origin;
    context.addIssue({ code: 'custom', message: 'must be the origin of a web page, such as https://example.com' });
    return z.NEVER;
  });

/** At most a day ahead, for a wrong device clock. */
const capturedAt = z.iso
  .datetime({ offset: true })
  .refine((text) => !(Date.parse(text) > Date.now() + DAY_MS), 'is in the future');
/** Choice OP-160. */
const upload = z.object({ eventId: uuid(), origin, capturedAt });
export const uploadForm = z.object({
  eventId: uuid(),
  origin: z.string(),
  capturedAt: z.iso.datetime({ offset: true }),
  file: z.string().meta({ format: 'binary' }),
});

type Uploading = Pick<
  HandlerContext<unknown, unknown, unknown, DevicePrincipal, ScreenshotUploadDependencies>,
  'request' | 'principal' | 'services' | 'run'
>;

/** Stores a screenshot of an observation. The same picture of the same observation is stored once. */
export async function receiveUpload({ request, principal, services, run }: Uploading): Promise<{ id: string }> {
  const { tenantId, deviceId, userId } = principal;
  const { screenshotEnabled } = await services.extensionResponses.ofTenant(tenantId);
  if (!screenshotEnabled) throw new FailureError(forbidden('screenshots_off'));
  let image: Image | string | undefined;
  const { fields, file } = await multipartForm(request, upload, {
    part: 'file',
    mostBytes: MAX_IMAGE_BYTES,
    judge: (given) => {
      image = imageIn(given);
      return typeof image === 'string' ? image : undefined;
    },
  });
  const { type: mediaType, width, height } = image as unknown as Image;
  const kept = await retentionOf(services, tenantId);
  const at = orThrow(timely(fields.capturedAt, Math.min(kept.eventRetentionDays, kept.streamRetentionDays)));
  const { eventId, origin } = fields;
  const day = await observedDay(services.loader, tenantId, deviceId, eventId, Date.parse(at));
  if (day === undefined) throw new FailureError(invalid('eventId', 'is not an event of this device'));
  const { license } = (await services.lookups.tenant(tenantId, tenantId)) ?? {};
  const screenshotId = screenshotIdOf(deviceId, eventId, file.bytes);
  try {
    await run(takeScreenshot, {
      screenshotId,
      deviceId,
      userId,
      eventId,
      day,
      origin,
      capturedAt: at,
      mediaType,
      width,
      height,
      picture: file.bytes,
      seats: license?.maxUsers ?? 0,
    });
  } catch (error) {
    if (error instanceof ObjectStoreUnavailable)
      throw new FailureError(temporarilyUnavailable('screenshot_storage_unavailable'));
    throw error;
  }
  await services.streamRetention.ensure(screenshotDayStream(tenantId, deviceId, day), kept.streamRetentionDays);
  return { id: screenshotId };
}

/** The image, or why the file is none. */
function imageIn({ bytes, declaredType }: UploadedFile): Image | string {
  try {
    const image = readImage(bytes);
    return UNDECLARED.has(declaredType) || declaredType === image.type ? image : 'is not of the declared media type';
  } catch (error) {
    if (error instanceof ImageRefused) return error.message;
    throw error;
  }
}

/** As for observations: not older than the retention. */
function timely(text: string, keptDays: number) {
  const at = Date.parse(text);
  if (at < Date.now() - acceptedDays(keptDays) * DAY_MS)
    return invalid('capturedAt', 'is older than the retention period');
  return new Date(at).toISOString();
}
