import { describe, expect, it } from 'vitest';
import { endMobileDevices } from '../../../commands/mobile/end-mobile-devices.ts';
import { registerMobileDevice } from '../../../commands/mobile/register-mobile-device.ts';
import { removeMobileDevice } from '../../../commands/mobile/remove-mobile-device.ts';
import { setMobilePreferences } from '../../../commands/mobile/set-mobile-preferences.ts';
import { mobileEvents } from '../../../src/contexts/mobile/domain/events.ts';
import { MAX_MOBILE_DEVICES } from '../../../src/contexts/mobile/domain/mobile-account.ts';
import { DEFAULT_PREFERENCES } from '../../../src/contexts/mobile/domain/preferences.ts';
import { mayUseMobile } from '../../../src/contexts/mobile/domain/mobile-eligibility.ts';
import { context, historiesOf } from '../../dsl/given.ts';

const { given } = historiesOf([mobileEvents]);
const adminId = '0198a000-0000-7000-8000-000000000001';
const idOf = (n: number) => `0198a000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const { id } = context();

const registered = (n: number, tokenDigest = `digest ${n}`) => ({
  type: 'MobileDeviceRegistered' as const,
  data: {
    adminId,
    deviceId: idOf(n),
    platform: 'ios' as const,
    deviceName: null,
    appVersion: null,
    tokenRef: idOf(100 + n),
    tokenDigest,
  },
});
const phone = { adminId, platform: 'ios' as const, deviceName: 'Phone', appVersion: '1.2' };
const input = { ...phone, pushToken: 'a-push-token' };
const facts = { tokenRef: idOf(900), tokenDigest: 'digest 1' };

describe('a mobile device (OP-190)', () => {
  it('is registered with a reference to its push token', () => {
    given()
      .when(registerMobileDevice, input, facts)
      .then({ type: 'MobileDeviceRegistered', data: { ...phone, ...facts, deviceId: id } });
  });

  it('is updated by the same token, and keeps its id', () => {
    const outcome = given(registered(1)).when(registerMobileDevice, input, facts);
    outcome.then({
      type: 'MobileDeviceRefreshed',
      data: { ...phone, deviceId: idOf(1), tokenRef: facts.tokenRef },
    });
    outcome.thenForgets(idOf(101));
    expect(outcome.result()).toEqual({ deviceId: idOf(1), isNew: false });
  });

  it('is one of a limited number, which an update does not count against', () => {
    const all = Array.from({ length: MAX_MOBILE_DEVICES }, (_, n) => registered(n + 1));
    given(...all)
      .when(registerMobileDevice, input, { ...facts, tokenDigest: 'another' })
      .thenRefused('conflict');
    given(...all)
      .when(registerMobileDevice, input, facts)
      .thenTypes('MobileDeviceRefreshed');
  });

  it('is removed once, and can be registered again', () => {
    const removed = {
      type: 'MobileDeviceRemoved',
      data: { adminId, deviceId: idOf(1), reason: 'unregistered' },
    } as const;
    given(registered(1)).when(removeMobileDevice, removed.data).then(removed);
    given(registered(1), removed).when(removeMobileDevice, removed.data).thenRefused('notFound');
    given(registered(1), removed)
      .when(registerMobileDevice, input, facts)
      .then({ type: 'MobileDeviceRegistered', data: { ...phone, ...facts, deviceId: id } });
  });

  it('ends with the account, and so does every other', () => {
    const ended = (n: number) =>
      ({
        type: 'MobileDeviceRemoved',
        data: { adminId, deviceId: idOf(n), reason: 'account_deleted' },
      }) as const;
    given(registered(1), registered(2))
      .when(endMobileDevices, { adminId, reason: 'account_deleted' })
      .then(ended(1), ended(2));
    given(registered(1), ended(1)).when(endMobileDevices, { adminId, reason: 'account_deleted' }).then();
  });
});

describe('push preferences (OP-191)', () => {
  it('keep what is not given, also in quiet hours', () => {
    const quietHours = { ...DEFAULT_PREFERENCES.quietHours, enabled: true };
    given()
      .when(setMobilePreferences, { adminId, changes: { minSeverity: 'low' }, quietHours: { enabled: true } })
      .then({
        type: 'MobilePreferencesSet',
        data: { adminId, preferences: { ...DEFAULT_PREFERENCES, minSeverity: 'low', quietHours } },
      });
  });

  it('change nothing if they are the same', () => {
    given()
      .when(setMobilePreferences, { adminId, changes: { pushEnabled: true }, quietHours: {} })
      .then();
  });
});

describe('mobile access (OP-046)', () => {
  const byRole = { super_admin: true, admin: true, analyst: true, executive: false };
  const ann = { role: 'analyst', status: 'active', mobileAccess: true } as const;

  it('needs the flag, the role and an active account', () => {
    expect(mayUseMobile(ann, byRole)).toBe(true);
    expect(mayUseMobile({ ...ann, mobileAccess: false }, byRole)).toBe(false);
    expect(mayUseMobile({ ...ann, status: 'suspended' }, byRole)).toBe(false);
    expect(mayUseMobile(ann, { ...byRole, analyst: false })).toBe(false);
    expect(mayUseMobile(undefined, byRole)).toBe(false);
  });

  it('is not given to a role that the map does not have', () => {
    expect(mayUseMobile({ ...ann, role: 'viewer' }, byRole)).toBe(false);
  });
});
