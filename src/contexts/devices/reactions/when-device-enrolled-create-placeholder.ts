import { createPlaceholderEmployee } from '../../../../commands/employees/create-placeholder-employee.ts';
import { deviceEvents } from '../domain/events.ts';
import { defineReaction, effect } from '../../../platform/kernel/reaction.ts';

/**
 * The enrollment request creates the placeholder itself, before it responds. This reaction creates it if the process
 * ended in between. If the user exists, it does nothing.
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
