import { tenantSettings } from '../../src/contexts/settings/domain/tenant-settings.resource.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { ZonedDays } from '../../src/platform/time-zones/zoned-days.ts';

const SQL = 'select timezone from tenant_settings where tenant_id = $1';
const UNLESS_SET = tenantSettings.aggregate.initial.values.timezone;

/** Calendar days in the tenant's time zone (choice OP-118). Organizations have no such setting: their days are UTC. */
export const tenantDays: Query<void, ZonedDays> = async (reads) => {
  const row = await reads.one<{ timezone: string | null }>(SQL);
  return new ZonedDays(row?.timezone ?? UNLESS_SET);
};
