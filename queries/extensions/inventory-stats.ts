import { z } from 'zod';
import { rankOf } from '../../src/contexts/extensions/domain/permission-risk.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { DEVICES_WITH_EXTENSIONS, selectFleet } from './current-installations.ts';

/** Choice OP-196: number of extensions, and of browsers with at least one. */
export const inventoryStatsView = z
  .object({ total: z.int(), whitelisted: z.int(), unwhitelisted: z.int(), highRisk: z.int(), devices: z.int() })
  .meta({ title: 'InventoryStats' });
type InventoryStats = z.output<typeof inventoryStatsView>;

const SQL = `
  select count(*)::int as total,
         (count(*) filter (where f.is_listed))::int as whitelisted,
         (count(*) filter (where not f.is_listed))::int as unwhitelisted,
         (count(*) filter (where f.risk = ${rankOf('high')}))::int as "highRisk",
         (select count(*)::int from ${DEVICES_WITH_EXTENSIONS}) as devices
    from (${selectFleet()}) f`;

export const inventoryStats: Query<undefined, InventoryStats> = async (reads) =>
  (await reads.figures<InventoryStats>(SQL))!;
