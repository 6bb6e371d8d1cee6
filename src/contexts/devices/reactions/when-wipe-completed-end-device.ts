import { completeDeviceWipe } from '../../../../commands/devices/complete-device-wipe.ts';
import { telemetryEvents } from '../../telemetry/domain/events.ts';
import { defineReaction, effect } from '../../../platform/kernel/reaction.ts';

/** A device can report a completed wipe only for itself: its certificate determines the device id. */
export const whenWipeCompletedEndDevice = defineReaction({
  name: 'wipe-completion',
  lane: 'telemetry',
  families: [telemetryEvents],
  on: {
    TelemetryRecorded: ({ data: { deviceId, observations } }) =>
      observations
        .filter((observation) => observation.kind === 'wipe_completed')
        .map(({ wipeId }) => ({ effects: [effect(completeDeviceWipe, { deviceId, wipeId })] })),
  },
});
