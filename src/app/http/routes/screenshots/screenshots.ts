import { z } from 'zod';
import { recordScreenshotViews } from '../../../../../commands/screenshots/record-screenshot-views.ts';
import { getScreenshot } from '../../../../../queries/screenshots/get-screenshot.ts';
import { screenshotsOfEvent } from '../../../../../queries/screenshots/screenshots-of-event.ts';
import { FailureError, forbidden, notFound, temporarilyUnavailable } from '../../../../platform/kernel/failure.ts';
import { asTenantId, uuid, type TenantId } from '../../../../platform/kernel/ids.ts';
import { ObjectStoreUnavailable } from '../../../../platform/objects/object-store.ts';
import { admin, deviceAccess, openAccess } from '../../access.ts';
import { writtenAs } from '../../query-types.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { receiveUpload, uploadForm, type ScreenshotUploadDependencies } from './screenshot-upload.ts';
import type { Pictures } from '../../../../contexts/screenshots/pictures.ts';
import type { SignedAddresses } from '../../../../contexts/screenshots/signed-addresses.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';
import type { ResponseHead } from '../../response-head.ts';

export interface ScreenshotsRouteDependencies extends ScreenshotUploadDependencies {
  readonly pictures: Pictures;
  readonly screenshotAddresses: SignedAddresses;
  readonly lookups: Lookups;
}

const route = routeWith<ScreenshotsRouteDependencies>();

const base = '/api/v1/admin/screenshots';
const params = z.object({ screenshotID: uuid() });

const screenshotView = z
  .object({
    id: z.uuid(),
    eventId: z.uuid(),
    /** A signed URL of the picture, valid for 15 minutes without further credentials (choice OP-202). */
    url: z.url(),
    origin: z.string(),
    capturedAt: z.iso.datetime(),
  })
  .meta({ title: 'Screenshot' });

type Row = Exclude<Awaited<ReturnType<typeof getScreenshot>>, { failed: true }>;

async function viewsOf(
  services: ScreenshotsRouteDependencies,
  tenantId: TenantId,
  rows: readonly Row[],
): Promise<z.output<typeof screenshotView>[]> {
  const { externalBaseUrl = '' } = (await services.lookups.tenant(tenantId, tenantId)) ?? {};
  const now = Date.now();
  return rows.map(({ screenshot_id: id, event_id: eventId, origin, captured_at: capturedAt }) => ({
    id,
    eventId,
    url: services.screenshotAddresses.address(externalBaseUrl, tenantId, id, now),
    origin,
    capturedAt,
  }));
}

const EXTENSIONS = { 'image/png': 'png', 'image/jpeg': 'jpg', 'image/webp': 'webp' } as const;

/** Headers make a browser show the file only as this type of picture, whatever the upload contains. */
async function pictureOf(
  { pictures }: ScreenshotsRouteDependencies,
  tenantId: TenantId,
  row: Row,
  reply: ResponseHead,
): Promise<Buffer> {
  const { screenshot_id: screenshotId, user_id: userId, device_id: deviceId, day, media_type: mediaType } = row;
  const picture = await pictures.read({ tenantId, userId, deviceId, day, screenshotId }).catch((error: unknown) => {
    throw error instanceof ObjectStoreUnavailable ? new FailureError(temporarilyUnavailable()) : error;
  });
  if (!picture) throw new FailureError(notFound());
  void reply.headers({
    'content-type': mediaType,
    'content-disposition': `inline; filename="screenshot-${screenshotId}.${EXTENSIONS[mediaType]}"`,
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-store',
  });
  return picture;
}

export const screenshotRoutes: RouteGroup<ScreenshotsRouteDependencies> = {
  area: 'screenshots',
  routes: [
    route({
      method: 'GET',
      path: `${base}/event/{eventID}`,
      access: admin('screenshots:read'),
      summary: 'List the screenshots of an event',
      operation: 'listEventScreenshots',
      sends: ['X-Log-Position'],
      description:
        'In the order in which they were taken, at most 100. Each has a signed URL of the picture, valid for 15 minutes.',
      params: z.object({ eventID: uuid() }),
      response: z.object({ screenshots: z.array(screenshotView), total: z.int() }),
      handle: async ({ ask, run, params: { eventID }, services, principal: { tenantId, sessionId } }) => {
        const screenshots = await viewsOf(services, tenantId, await ask(screenshotsOfEvent, { eventId: eventID }));
        await run(recordScreenshotViews, {
          sessionId,
          screenshotIds: screenshots.map(({ id }) => id),
          shown: 'address',
        });
        return { screenshots, total: screenshots.length };
      },
    }),
    route({
      method: 'GET',
      path: `${base}/{screenshotID}`,
      access: admin('screenshots:read'),
      summary: 'Get a screenshot',
      sends: ['X-Log-Position'],
      description: 'With a signed URL of the picture, valid for 15 minutes.',
      params,
      response: screenshotView,
      handle: async ({ ask, run, params: { screenshotID }, services, principal: { tenantId, sessionId } }) => {
        const [view] = await viewsOf(services, tenantId, [await ask(getScreenshot, { screenshotId: screenshotID })]);
        await run(recordScreenshotViews, { sessionId, screenshotIds: [screenshotID], shown: 'address' });
        return view;
      },
    }),
    route({
      method: 'GET',
      path: `${base}/{screenshotID}/image`,
      access: admin('screenshots:read'),
      summary: 'Get the picture of a screenshot',
      sends: ['X-Log-Position', 'Content-Disposition'],
      params,
      response: { media: 'image/*' },
      handle: async ({ ask, run, params: { screenshotID }, services, principal: { tenantId, sessionId }, reply }) => {
        const row = await ask(getScreenshot, { screenshotId: screenshotID });
        await run(recordScreenshotViews, { sessionId, screenshotIds: [screenshotID], shown: 'picture' });
        return pictureOf(services, tenantId, row, reply);
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/screenshots/{tenantID}/{screenshotID}/image',
      access: openAccess('admin'),
      summary: 'Get the picture of a screenshot by its signed URL',
      operation: 'getSignedScreenshotImage',
      sends: ['Content-Disposition'],
      refuses: ['address_invalid', 'address_expired'],
      description: '403 if the URL is invalid or has expired (15 minutes).',
      params: params.extend({ tenantID: uuid() }),
      query: z.object({
        // Judged with the signature: an address that was changed is refused as a whole.
        expires: writtenAs(z.string().max(20), { type: 'integer', minimum: 0 }).default(''),
        signature: z.string().max(64).default(''),
      }),
      response: { media: 'image/*' },
      handle: async ({ ask, params: { tenantID, screenshotID }, query, services, reply }) => {
        const tenantId = asTenantId(tenantID);
        const verdict = services.screenshotAddresses.judge(
          { tenantId, screenshotId: screenshotID, ...query },
          Date.now(),
        );
        if (verdict !== 'good')
          throw new FailureError(forbidden(verdict === 'expired' ? 'address_expired' : 'address_invalid'));
        // The signature is the permission, so a dashboard of another origin may show the picture in an `<img>`.
        void reply.header('cross-origin-resource-policy', 'cross-origin');
        return pictureOf(services, tenantId, await ask(getScreenshot, { screenshotId: screenshotID }, tenantId), reply);
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/ext/screenshots',
      access: deviceAccess,
      summary: 'Upload a screenshot',
      refuses: ['limit_reached', 'screenshots_off', 'person_erased', 'screenshot_storage_unavailable'],
      description: 'A picture of a page that the device observed: PNG, JPEG or WebP, at most 5 MiB (413).',
      consumes: 'multipart',
      body: uploadForm,
      status: 201,
      response: z.object({ id: z.uuid() }),
      handle: receiveUpload,
    }),
  ],
};
