import { describe, expect, it } from 'vitest';
import { revokeDevice } from '../../../commands/devices/revoke-device.ts';
import { whenEmployeeDeletedRevokeDevices } from '../../../src/contexts/employees/reactions/when-employee-deleted-revoke-devices.ts';
import type { DeviceEvent } from '../../../src/contexts/devices/domain/events.ts';
import type { EmployeeEvent } from '../../../src/contexts/employees/domain/events.ts';
import { browser, first } from '../../commands/devices/histories.ts';
import { recorded } from '../../dsl/given.ts';

const USER = '44444444-4444-4444-8444-444444444444';
const [FIRST, SECOND] = ['55555555-5555-4555-8555-555555555551', '55555555-5555-4555-8555-555555555552'];

const enrolled = (deviceId: string): DeviceEvent => ({
  type: 'DeviceEnrolled',
  data: { ...first, ...browser, deviceId, userId: USER },
});
const deleted: EmployeeEvent = { type: 'EmployeeDeleted', data: { userId: USER } };

/** The effects of each event; every event here concerns the one user. */
function effectsOf(...events: (EmployeeEvent | DeviceEvent)[]): unknown[][] {
  const on = whenEmployeeDeletedRevokeDevices.on as Record<
    string,
    (event: unknown) => { react: (row: unknown) => { row: unknown; effects: unknown[] } }[]
  >;
  let row: unknown;
  return events.map((event, index) => {
    const [step] = on[event.type]!(recorded(event, index + 1));
    const answer = step!.react(row);
    row = answer.row;
    return answer.effects;
  });
}
const revoked = (deviceId: string) => ({
  command: revokeDevice,
  input: { deviceId, reason: 'user_deleted', ofUserId: USER },
});

describe('when an employee is deleted', () => {
  it('each of their devices is revoked once', () => {
    const history = [enrolled(FIRST), enrolled(SECOND), enrolled(FIRST), deleted];
    expect(effectsOf(...history)).toEqual([[], [], [], [revoked(FIRST), revoked(SECOND)]]);
  });

  it('nothing happens without devices', () => {
    expect(effectsOf(deleted)).toEqual([[]]);
  });

  it('a device that enrolls for them later is revoked at once', () => {
    expect(effectsOf(enrolled(FIRST), deleted, enrolled(SECOND))).toEqual([[], [revoked(FIRST)], [revoked(SECOND)]]);
  });
});
