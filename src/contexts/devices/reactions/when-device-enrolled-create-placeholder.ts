import { createPlaceholderEmployee } from '../../../../commands/employees/create-placeholder-employee.ts';
import { deviceEvents } from '../domain/events.ts';
import { defineReaction, effect } from '../../../platform/kernel/reaction.ts';

/**
 * Enrolling makes the placeholder itself, so that it is there when the browser has its answer. This does it where the
 * process ended in between; where the user is known, nothing happens.
 */
export const whenDeviceEnrolledCreatePlaceholder = defineReaction({
  name: 'when-device-enrolled-create-placeholder',
  lane: 'main',
  families: [deviceEvents],
  on: {
    DeviceEnrolled: ({ data: { userId, deviceId } }) => [
      { effects: [effect(createPlaceholderEmployee, { userId, deviceId })] },
    ],
  },
});
