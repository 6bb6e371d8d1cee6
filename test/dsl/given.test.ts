import { describe, expect, it } from 'vitest';
import { claimAlert } from '../../commands/alerts/claim-alert.ts';
import { revokeDevice } from '../../commands/devices/revoke-device.ts';
import { credentialUses } from '../../projections/telemetry/credential-uses.ts';
import { whenEmployeeDeletedRevokeDevices } from '../../src/contexts/employees/reactions/when-employee-deleted-revoke-devices.ts';
import { accept } from '../../src/platform/kernel/command.ts';
import { given, history, recorded, rowsAfter } from './given.ts';
import { reactTo } from './reactions.ts';

const alertId = '0198a000-0000-7000-8000-000000000001';
const me = '0198a000-0000-7000-8000-000000000002';
const claim = { alertId, adminId: me };
const unclaimed = { type: 'AlertAssigned', data: { alertId, assigneeId: null } } as const;

/** `npm run check` fails where a line below `@ts-expect-error` compiles. */
describe('a history of events that the compiler refuses', () => {
  it('has a type that no event has', () => {
    // @ts-expect-error no event has this type
    expect(() => given({ type: 'AlertMislaid', data: { alertId } })).toThrow('AlertMislaid is no event');
    // @ts-expect-error no event has this type
    expect(() => recorded({ type: 'AlertMislaid', data: { alertId } }, 1)).toThrow('AlertMislaid is no event');
  });

  it('lacks a field of its event', () => {
    // @ts-expect-error assigneeId is missing
    expect(() => given({ type: 'AlertClaimed', data: { alertId } })).toThrow('assigneeId');
    // @ts-expect-error assigneeId is missing
    expect(() => history({ type: 'AlertClaimed', data: { alertId } })).toThrow('assigneeId');
  });

  it('belongs to another aggregate than the command', () => {
    // @ts-expect-error an alert's events are not in a device's stream
    expect(() => given(unclaimed).when(revokeDevice, { deviceId: me, reason: 'revoked' })).toThrow(TypeError);
  });

  it('holds events that a read model or a reaction never gets', () => {
    // @ts-expect-error the model folds telemetry, not alerts
    expect(rowsAfter(credentialUses, history(unclaimed))).toEqual([]);
    // @ts-expect-error the reaction reads employees and devices, not alerts
    expect(reactTo(whenEmployeeDeletedRevokeDevices, history(unclaimed))).toEqual([]);
  });

  it('is expected of a command that never writes such events', () => {
    const outcome = given().when(revokeDevice, { deviceId: me, reason: 'revoked' });
    // @ts-expect-error a device's command writes no alert's event
    expect(() => outcome.then(unclaimed)).toThrow('refused');
    // @ts-expect-error no event of a device has this type
    expect(() => outcome.thenTypes('DeviceMislaid')).toThrow('refused');
  });
});

describe('a history of events that only their schema refuses', () => {
  it('fails at once for a value that the schema refuses', () => {
    expect(() => given({ type: 'AlertClaimed', data: { alertId: 'a1', assigneeId: me } })).toThrow('alertId');
  });

  it('fails at once for a field that the schema does not know', () => {
    const claimed = { type: 'AlertClaimed' as const, data: { alertId, assigneeId: me, mood: 'good' } };
    expect(() => given(claimed)).toThrow('holds what its schema knows, and nothing else');
  });

  it('fails for a decision whose event the store would refuse', () => {
    const careless: typeof claimAlert = {
      ...claimAlert,
      decide: () => accept([{ type: 'AlertClaimed', data: { alertId: 'a1', assigneeId: me } }]),
    };
    expect(() => given(unclaimed).when(careless, claim)).toThrow('AlertClaimed is not as its schema says');
  });
});
