import { z } from 'zod';
import { allowReenrollment } from '../../../../../commands/devices/allow-reenrollment.ts';
import { confirmDeviceEnrollment } from '../../../../../commands/devices/confirm-device-enrollment.ts';
import { deleteDevice } from '../../../../../commands/devices/delete-device.ts';
import { requestDeviceWipe } from '../../../../../commands/devices/request-device-wipe.ts';
import { revokeDevice } from '../../../../../commands/devices/revoke-device.ts';
import { silenceStaleAlerts } from '../../../../../commands/devices/silence-stale-alerts.ts';
import { deviceView } from '../../../../../queries/devices/device-view.ts';
import { extensionOnDeviceView, extensionsOnDevice } from '../../../../../queries/devices/extensions-on-device.ts';
import { fleetHealth } from '../../../../../queries/devices/fleet-health.ts';
import { getDevice } from '../../../../../queries/devices/get-device.ts';
import { deviceOrder, listDevices } from '../../../../../queries/devices/list-devices.ts';
import { supportBundle, type SupportBundleDependencies } from '../../../operations/support-bundle.ts';
import { deviceStatuses } from '../../../../contexts/devices/domain/vocabulary.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { admin, adminReauthenticated } from '../../access.ts';
import { keysetQuery, keysetView, withNextMark } from '../../keyset-query.ts';
import { toPage } from '../../list-query.ts';
import { truthText } from '../../query-types.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import type { Limits } from '../../../config/limits.ts';

export interface DevicesRouteDependencies extends SupportBundleDependencies {
  readonly limits: Limits;
}

const route = routeWith<DevicesRouteDependencies>();

const base = '/api/v1/admin/devices';
const counters = z.record(z.string(), z.int());
const params = z.object({ deviceID: uuid() });

export const deviceRoutes: RouteGroup<DevicesRouteDependencies> = {
  area: 'devices',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('devices:read'),
      summary: 'List enrolled devices',
      description: 'Newest first.',
      query: z.object({
        ...keysetQuery(deviceOrder),
        user_id: uuid().optional(),
        status: z.enum(deviceStatuses).optional(),
        enrollment_confirmed: truthText().optional(),
      }),
      response: z.object({ devices: z.array(deviceView), ...keysetView }),
      handle: async ({ ask, query }) =>
        withNextMark(
          deviceOrder,
          await ask(listDevices, {
            ...toPage(query),
            userId: query.user_id,
            status: query.status,
            isConfirmed: query.enrollment_confirmed,
          }),
        ),
    }),
    route({
      method: 'GET',
      path: `${base}/{deviceID}`,
      access: admin('devices:read'),
      summary: 'Get a device',
      params,
      response: deviceView,
      handle: ({ ask, params: { deviceID } }) => ask(getDevice, { deviceId: deviceID }),
    }),
    route({
      method: 'GET',
      path: `${base}/{deviceID}/extensions`,
      access: admin('devices:read'),
      summary: 'List the extensions in the browser of a device',
      description: 'As the browser last reported them.',
      params,
      response: z.object({ extensions: z.array(extensionOnDeviceView), total: z.int() }),
      handle: ({ ask, params: { deviceID } }) => ask(extensionsOnDevice, { deviceId: deviceID }),
    }),
    route({
      method: 'PUT',
      path: `${base}/{deviceID}/revoke`,
      access: admin('devices:write'),
      summary: 'Revoke a device',
      description: 'Its certificate is no longer accepted.',
      params,
      response: deviceView,
      handle: async ({ run, ask, params: { deviceID: deviceId } }) => {
        await run(revokeDevice, { deviceId, reason: 'revoked' });
        return ask(getDevice, { deviceId });
      },
    }),
    route({
      method: 'PUT',
      path: `${base}/{deviceID}/allow-reenrollment`,
      access: adminReauthenticated('devices:write'),
      summary: 'Allow a revoked device to enroll again',
      refuses: ['device_status'],
      description: 'The device keeps its user only if its enrollment token is bound to that user.',
      params,
      response: deviceView,
      handle: async ({ run, ask, params: { deviceID: deviceId } }) => {
        await run(allowReenrollment, { deviceId });
        return ask(getDevice, { deviceId });
      },
    }),
    route({
      method: 'PUT',
      path: `${base}/{deviceID}/confirm-enrollment`,
      access: adminReauthenticated('devices:write'),
      summary: 'Confirm the enrollment of a device',
      description:
        'For a device that enrolled by itself: confirms that it belongs to its user. Only then can it show verification codes.',
      params,
      response: deviceView,
      handle: async ({ run, ask, params: { deviceID: deviceId } }) => {
        await run(confirmDeviceEnrollment, { deviceId });
        return ask(getDevice, { deviceId });
      },
    }),
    route({
      method: 'PUT',
      path: `${base}/{deviceID}/wipe`,
      access: admin('devices:write'),
      summary: 'Request a wipe of a device',
      refuses: ['device_status'],
      description: 'The extension clears its local data at its next heartbeat.',
      params,
      response: deviceView,
      handle: async ({ run, ask, params: { deviceID: deviceId } }) => {
        await run(requestDeviceWipe, { deviceId });
        return ask(getDevice, { deviceId });
      },
    }),
    route({
      method: 'PUT',
      path: `${base}/{deviceID}/silence-stale-alerts`,
      access: admin('devices:silence'),
      summary: 'Silence stale-device alerts of a device',
      description: 'For `untilDays` days (1 to 365), or without limit if it is left out. `silenced: false` ends it.',
      params,
      body: z.object({ silenced: z.boolean().default(true), untilDays: z.int().min(1).max(365).nullish() }).nullish(),
      response: deviceView,
      handle: async ({ run, ask, params: { deviceID: deviceId }, body }) => {
        await run(silenceStaleAlerts, { deviceId, silenced: body?.silenced ?? true, days: body?.untilDays ?? null });
        return ask(getDevice, { deviceId });
      },
    }),
    route({
      method: 'DELETE',
      path: `${base}/{deviceID}`,
      access: admin('devices:write'),
      summary: 'Delete a device',
      description: 'Its certificate is no longer accepted.',
      params,
      handle: async ({ run, params: { deviceID: deviceId } }) => {
        await run(deleteDevice, { deviceId });
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/admin/support-bundle',
      access: admin('support-bundle:read'),
      summary: 'Download a support bundle',
      sends: ['Content-Disposition'],
      description:
        'A zip for support with version, settings, health and log lines. It holds no secrets, no telemetry, and nothing of other tenants.',
      response: { media: 'application/zip' },
      handle: async ({ services, principal: { tenantId }, reply }) => {
        const day = new Date().toISOString().slice(0, 10);
        reply.type('application/zip').header('content-disposition', `attachment; filename="support-bundle-${day}.zip"`);
        return services.limits.archives.run(tenantId, () => supportBundle(services, tenantId));
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/admin/fleet-health',
      access: admin('overview:read'),
      summary: 'Get a summary of the fleet',
      description: 'Enrollment, stale and revoked devices, browsers, operating systems and versions.',
      response: z.object({
        totalDevices: z.int(),
        activeDevices: z.int(),
        staleDevices: z.int(),
        revokedDevices: z.int(),
        enrollment: z.object({ enrolledUsers: z.int(), totalUsers: z.int(), rate: z.number(), pendingTokens: z.int() }),
        byBrowser: counters,
        byOs: counters,
        byExtensionVersion: counters,
      }),
      handle: ({ ask }) => ask(fleetHealth, undefined),
    }),
  ],
};
