import { z } from 'zod';
import { defineSingleton } from '../../../platform/resources/singleton.ts';

/** How a tenant treats the devices of leavers (decision 0101). */
export const offboardingSettings = defineSingleton({
  noun: 'offboardingSettings',
  area: 'employees',
  path: '/api/v1/admin/offboarding/settings',
  access: { read: 'settings:read', write: 'settings:write' },
  table: 'offboarding_settings',
  version: 1,
  fields: {
    /**
     * Minutes from a deactivation until the certificates of the suspended devices are revoked for good. 0: at once. At
     * most a week.
     */
    certificateGraceMinutes: z.int().min(0).max(10_080).default(60),
  },
  showsEditor: true,
});
