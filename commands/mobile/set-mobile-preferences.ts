import { isDeepStrictEqual } from 'node:util';
import { mobileAccount, mobileAccountStream } from '../../src/contexts/mobile/domain/mobile-account.ts';
import type { MobilePreferences, QuietHours } from '../../src/contexts/mobile/domain/preferences.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

type Changes<T> = { readonly [Name in keyof T]?: T[Name] | undefined };

interface SetMobilePreferences {
  readonly adminId: string;
  /** Fields that are undefined keep their values. */
  readonly changes: Changes<Omit<MobilePreferences, 'quietHours'>>;
  readonly quietHours: Changes<QuietHours>;
}

export const setMobilePreferences = defineCommand({
  name: 'SetMobilePreferences',
  aggregate: mobileAccount,
  stream: ({ adminId }: SetMobilePreferences, { tenantId }) => mobileAccountStream(tenantId, adminId),
  decide({ preferences: before }, { adminId, changes, quietHours }) {
    const preferences: MobilePreferences = {
      ...before,
      ...given(changes),
      quietHours: { ...before.quietHours, ...given(quietHours) },
    };
    if (isDeepStrictEqual(preferences, before)) return accept([]);
    return accept([{ type: 'MobilePreferencesSet', data: { adminId, preferences } }]);
  },
  freshens: ['mobile_preferences'],
});

const given = <T extends object>(changes: Changes<T>): Partial<T> =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as Partial<T>;
