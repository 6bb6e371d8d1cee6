import type { MobilePreferencesRow } from '../../projections/mobile/mobile-preferences.ts';
import { DEFAULT_PREFERENCES, type MobilePreferences } from '../../src/contexts/mobile/domain/preferences.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

export const getMobilePreferences: Query<{ adminId: string }, MobilePreferences> = async (reads, { adminId }) => {
  const row = await reads.one<MobilePreferencesRow>(
    'select * from mobile_preferences where tenant_id = $1 and admin_id = $2',
    [adminId],
  );
  return row?.preferences ?? DEFAULT_PREFERENCES;
};
