import { mobileEvents } from '../../src/contexts/mobile/domain/events.ts';
import type { MobilePreferences } from '../../src/contexts/mobile/domain/preferences.ts';
import { tenantEvents } from '../../src/contexts/tenants/domain/events.ts';
import { defineReadModel, id, json, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = { admin_id: id, preferences: json<MobilePreferences>() };
export type MobilePreferencesRow = Row<{ columns: typeof columns }>;

/** Preferences of administrators who changed theirs. All others have the default ones. */
export const mobilePreferencesModel = defineReadModel({
  name: 'mobile_preferences',
  version: 1,
  lane: 'main',
  columns,
  key: ['admin_id'],
  families: [mobileEvents, tenantEvents],
  on: {
    MobilePreferencesSet: ({ data: { adminId, preferences } }) => ({
      key: { admin_id: adminId },
      fold: () => ({ admin_id: adminId, preferences }),
    }),
    AdminUserDeleted: ({ data: { adminId } }) => ({ key: { admin_id: adminId }, fold: () => undefined }),
  },
});
