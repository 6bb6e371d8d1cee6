import { z } from 'zod';
import { levelOf, riskLevels } from '../../src/contexts/extensions/domain/permission-risk.ts';
import { browserTypes } from '../../src/contexts/devices/domain/events.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { byBrowser, selectFleet, CURRENTLY_INSTALLED } from './current-installations.ts';

const kinds = [...browserTypes, 'unknown'] as const;

/** Choice OP-196. Counts extensions; an extension counts once in each browser type that has it. */
export const inventoryAggregatesView = z
  .object({
    byBrowser: z.record(z.enum(kinds), z.int()),
    byRisk: z.record(z.enum(riskLevels), z.int()),
    /** Most frequent first, at most 100. */
    byPermission: z.array(z.object({ permission: z.string(), count: z.int() })),
  })
  .meta({ title: 'InventoryAggregates' });
type InventoryAggregates = z.output<typeof inventoryAggregatesView>;

interface Counted {
  readonly name: string;
  readonly count: number;
}

const COUNTS = `
  with groups as materialized (${byBrowser()})
  select 'browser' as kind, coalesce(browser_type, 'unknown') as name, count(*)::int as count from groups group by 2
  union all
  select 'risk', f.risk::text, count(*)::int from (${selectFleet('select * from groups')}) f group by 2`;
// Most installations of an extension have the same permissions, so each distinct list is expanded once.
const PERMISSIONS = `
  select p.permission as name, count(distinct v.extension_id)::int as count
    from (select distinct n.extension_id, n.permissions from ${CURRENTLY_INSTALLED} n) v
   cross join lateral jsonb_array_elements_text(v.permissions) p (permission)
   group by 1 order by 2 desc, 1 limit 100`;

export const inventoryAggregates: Query<undefined, InventoryAggregates> = async (reads) => {
  const [counts, permissions] = await Promise.all([
    reads.rows<Counted & { readonly kind: 'browser' | 'risk' }>(COUNTS),
    reads.rows<Counted>(PERMISSIONS),
  ]);
  const of = (wanted: 'browser' | 'risk') => counts.filter(({ kind }) => kind === wanted);
  return {
    byBrowser: countsOf(kinds, of('browser')),
    byRisk: countsOf(
      riskLevels,
      of('risk').map(({ name, count }) => ({ name: levelOf(Number(name)), count })),
    ),
    byPermission: permissions.map(({ name, count }) => ({ permission: name, count })),
  };
};

/** Includes all names, with zero if there is none. */
const countsOf = <const Name extends string>(
  names: readonly Name[],
  counted: readonly Counted[],
): Record<Name, number> =>
  Object.fromEntries(names.map((name) => [name, counted.find((one) => one.name === name)?.count ?? 0])) as Record<
    Name,
    number
  >;
