import { z } from 'zod';
import { levelOf, riskLevels } from '../../src/domain/extensions/permission-risk.ts';
import { browserTypes } from '../../src/domain/devices/events.ts';
import type { Query } from '../../src/kernel/query.ts';
import { FLEET, INSTALLED_NOW } from './installed-now.ts';

const kinds = [...browserTypes, 'unknown'] as const;

/** Choice OP-196. What is counted are extensions: in how many kinds of browsers one is, in so many it counts. */
export const inventoryAggregatesView = z
  .object({
    byBrowser: z.record(z.enum(kinds), z.int()),
    byRisk: z.record(z.enum(riskLevels), z.int()),
    /** The most frequent first, 100 at most. */
    byPermission: z.array(z.object({ permission: z.string(), count: z.int() })),
  })
  .meta({ title: 'InventoryAggregates' });
type InventoryAggregates = z.output<typeof inventoryAggregatesView>;

interface Counted<Name> {
  readonly name: Name;
  readonly count: number;
}

const BROWSERS = `select coalesce(n.browser_type, 'unknown') as name, count(distinct n.extension_id)::int as count from ${INSTALLED_NOW} n group by 1`;
const RISKS = `select f.risk as name, count(*)::int as count from (${FLEET()}) f group by 1`;
// Most installations of an extension have the same permissions: these are taken apart once.
const PERMISSIONS = `
  select p.permission as name, count(distinct v.extension_id)::int as count
    from (select distinct n.extension_id, n.permissions from ${INSTALLED_NOW} n) v
   cross join lateral jsonb_array_elements_text(v.permissions) p (permission)
   group by 1 order by 2 desc, 1 limit 100`;

export const inventoryAggregates: Query<undefined, InventoryAggregates> = async (reads) => {
  const [browsers, risks, permissions] = await Promise.all([
    reads.rows<Counted<string>>(BROWSERS),
    reads.rows<Counted<number>>(RISKS),
    reads.rows<Counted<string>>(PERMISSIONS),
  ]);
  return {
    byBrowser: countsOf(kinds, browsers),
    byRisk: countsOf(riskLevels, risks.map(({ name, count }) => ({ name: levelOf(name), count }))),
    byPermission: permissions.map(({ name, count }) => ({ permission: name, count })),
  };
};

/** Every name, whether there is one or not. */
const countsOf = <const Name extends string>(names: readonly Name[], counted: readonly Counted<string>[]): Record<Name, number> =>
  Object.fromEntries(names.map((name) => [name, counted.find((one) => one.name === name)?.count ?? 0])) as Record<Name, number>;
