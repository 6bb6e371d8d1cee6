import { v5 } from 'uuid';
import { z } from 'zod';
import { deliverDeviceWipe } from '../../../../../commands/devices/deliver-device-wipe.ts';
import { recordHeartbeat } from '../../../../../commands/telemetry/record-heartbeat.ts';
import type { DeviceState } from '../../../../contexts/devices/domain/device.ts';
import { directionActions } from '../../../../contexts/extension-rollouts/domain/direction.ts';
import type { RolloutDirections } from '../../../../contexts/extension-rollouts/rollout-directions.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';
import type { ExtensionResponses } from '../../../../contexts/policies/extension-responses.ts';
import { deviceDayStream } from '../../../../contexts/telemetry/domain/device-day.ts';
import { retentionOf } from '../../../../contexts/telemetry/telemetry-retention.ts';
import { dayOf } from '../../../../platform/kernel/read-model.ts';
import { deviceOrAgentAccess } from '../../access.ts';
import { routeWith } from '../../route.ts';
import type { TelemetryIntakeDependencies } from './telemetry-intake.ts';

export interface HeartbeatDependencies extends TelemetryIntakeDependencies {
  readonly lookups: Lookups;
  readonly extensionResponses: ExtensionResponses;
  readonly rolloutDirections: RolloutDirections;
}

const route = routeWith<HeartbeatDependencies>();

const version = z.string().min(1).max(100);
const commandTypes = ['wipe', 'refresh_policies', 'update'] as const;
interface DeviceCommand {
  readonly id: string;
  readonly type: (typeof commandTypes)[number];
}

/** Namespaces (RFC 9562 §5.5) of command ids: the same id for the same device and version of policies, or extension. */
const REFRESHES = '6f2c1d7e-9c0b-4f55-8d43-0f6f1c1f7a04';
const UPDATES = '8d0a3a0b-1f0f-4f0e-8c86-2a5d9f6b4c71';
/** More is a counter that ran away. Of each device, far fewer count. */
const MOST_ERRORS = 1_000_000;

const pendingWipeOf = (device: DeviceState | undefined): DeviceState['wipe'] =>
  device?.status === 'wipe_pending' ? device.wipe : undefined;

/** OP-159, OP-512, OP-513. */
export const heartbeatRoute = route({
  method: 'POST',
  path: '/api/v1/ext/heartbeat',
  access: deviceOrAgentAccess,
  summary: 'Send a heartbeat',
  operation: 'sendHeartbeat',
  description:
    'Returns the commands for the device, the version of the extension that it should run, and the time until the next heartbeat in seconds.',
  body: z.object({
    extensionVersion: version,
    browserVersion: version.nullish(),
    osVersion: version.nullish(),
    policyVersion: version.nullish(),
    errors: z
      .int()
      .min(0)
      .max(MOST_ERRORS)
      .nullish()
      .describe('Errors of this version of the extension since the last heartbeat that got a response'),
  }),
  response: z.object({
    serverTime: z.iso.datetime(),
    commands: z.array(z.object({ id: z.uuid(), type: z.enum(commandTypes) })),
    policyVersion: z.string(),
    nextHeartbeatSeconds: z.int(),
    extension: z
      .object({
        action: z.enum(directionActions).describe('`keep` means: change to no other version now'),
        version: z.string().describe('The version that the device should run'),
      })
      .nullable()
      .describe('Null: no rollout concerns this browser'),
  }),
  handle: async ({ body, principal, services, run }) => {
    const { tenantId, deviceId, userId } = principal;
    const { extensionVersion, browserVersion = null, osVersion = null, policyVersion: held = null, errors } = body;
    const [known, { policyVersion, heartbeatSeconds }] = await Promise.all([
      services.lookups.device(tenantId, deviceId),
      services.extensionResponses.ofTenant(tenantId),
    ]);
    const { direction = null, countedFor: rollout } = await services.rolloutDirections.of(
      tenantId,
      { deviceId, browserType: known?.browserType ?? null, version: extensionVersion },
      () => services.extensionResponses.groupsOf(tenantId, userId),
    );
    await run(recordHeartbeat, {
      deviceId,
      userId,
      extensionVersion,
      browserVersion,
      osVersion,
      policyVersion: held,
      errors: errors ?? 0,
      rollout,
    });
    const { streamRetentionDays } = await retentionOf(services, tenantId);
    await services.streamRetention.ensure(deviceDayStream(tenantId, deviceId, dayOf(Date.now())), streamRetentionDays);
    const commands: DeviceCommand[] = [];
    const wipe = pendingWipeOf(known);
    if (wipe) {
      commands.push({ id: wipe.id, type: 'wipe' });
      if (!wipe.delivered) await run(deliverDeviceWipe, { deviceId });
    }
    if (held !== null && held !== policyVersion)
      commands.push({ id: v5(`${tenantId}|${deviceId}|${policyVersion}`, REFRESHES), type: 'refresh_policies' });
    // For extensions that do not know `extension`.
    if (direction?.action === 'update')
      commands.push({ id: v5(`${tenantId}|${deviceId}|${direction.version}`, UPDATES), type: 'update' });
    return {
      serverTime: new Date().toISOString(),
      commands,
      policyVersion,
      nextHeartbeatSeconds: heartbeatSeconds,
      extension: direction,
    };
  },
});
