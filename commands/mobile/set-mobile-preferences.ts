import { isDeepStrictEqual } from 'node:util';
import { mobileAccount, mobileAccountStream } from '../../src/contexts/mobile/domain/mobile-account.ts';
import {
  silencesPerson,
  type MobilePreferences,
  type QuietHours,
} from '../../src/contexts/mobile/domain/preferences.ts';
import { refuseUnlessReauthenticated } from '../../src/platform/kernel/fresh-proof.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

type Changes<T> = { readonly [Name in keyof T]?: T[Name] | undefined };

interface SetMobilePreferences {
  readonly adminId: string;
  /** Fields that are undefined keep their values. */
  readonly changes: Changes<Omit<MobilePreferences, 'quietHours'>>;
  readonly quietHours: Changes<QuietHours>;
  /** Required where the person no longer hears of attacks (decision 0150). */
  readonly reauthenticated?: boolean;
}

export const setMobilePreferences = defineCommand({
  name: 'SetMobilePreferences',
  aggregate: mobileAccount,
  stream: ({ adminId }: SetMobilePreferences, { tenantId }) => mobileAccountStream(tenantId, adminId),
  decide({ preferences: before }, { adminId, changes, quietHours, reauthenticated }, { actor }) {
    const preferences: MobilePreferences = {
      ...before,
      ...given(changes),
      quietHours: { ...before.quietHours, ...given(quietHours) },
    };
    if (isDeepStrictEqual(preferences, before)) return accept([]);
    const isSilenced = silencesPerson(before, preferences);
    const unproved = isSilenced ? refuseUnlessReauthenticated(actor, reauthenticated) : undefined;
    if (unproved) return unproved;
    const data = { adminId, preferences, ...(isSilenced ? { isSilenced } : {}) };
    return accept([{ type: 'MobilePreferencesSet', data }]);
  },
  freshens: ['mobile_preferences'],
});

const given = <T extends object>(changes: Changes<T>): Partial<T> =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as Partial<T>;
