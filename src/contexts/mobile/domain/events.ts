import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { mobilePreferences } from './preferences.ts';

export const mobilePlatforms = ['ios', 'android'] as const;
export type MobilePlatform = (typeof mobilePlatforms)[number];

const adminId = uuid();
const deviceId = uuid();
/** Of the push token in the vault. */
const tokenRef = uuid();
const aboutDevice = { resource: 'mobileDevice', id: 'deviceId' } as const;
const described = {
  platform: z.enum(mobilePlatforms),
  deviceName: z.string().nullable(),
  appVersion: z.string().nullable(),
};
const personal = { subject: 'adminId', fields: ['deviceName'] } as const;

/** An administrator's devices and preferences. One stream for each administrator. */
export const mobileEvents = defineEvents('mobileAccount', {
  MobileDeviceRegistered: {
    version: 1,
    schema: z.object({
      adminId,
      deviceId,
      ...described,
      tokenRef,
      /** Keyed digest of tenant and push token. It recognizes a token that is registered again. */
      tokenDigest: z.string(),
    }),
    personal,
    concealed: ['tokenDigest'],
    about: aboutDevice,
    audit: 'mobile_device.registered',
  },
  /** The app registered the same push token again. It is stored anew. */
  MobileDeviceRefreshed: {
    version: 1,
    schema: z.object({ adminId, deviceId, ...described, tokenRef }),
    personal,
    about: aboutDevice,
    audit: 'mobile_device.refreshed',
  },
  MobileDeviceRemoved: {
    version: 1,
    schema: z.object({
      adminId,
      deviceId,
      /** `token_gone`: the push service no longer knows the token. `sessions_ended`: with all sessions of the account. */
      reason: z.enum(['unregistered', 'token_gone', 'account_deleted', 'sessions_ended']),
    }),
    about: aboutDevice,
    audit: 'mobile_device.removed',
  },
  /** All preferences. `isSilenced`: the person is no longer called about attacks. Absent in older events. */
  MobilePreferencesSet: {
    version: 1,
    schema: z.object({ adminId, preferences: mobilePreferences, isSilenced: z.boolean().optional() }),
    about: { resource: 'mobilePreferences', id: 'adminId' },
    audit: 'mobile_preferences.set',
  },
});
export type MobileEvent = EventOf<typeof mobileEvents>;
