import type { browserTypes } from '../../src/contexts/devices/domain/events.ts';
import { rankOf, type RiskLevel } from '../../src/contexts/extensions/domain/permission-risk.ts';
import { paginated, type Page, type Paginated, type Query } from '../../src/platform/kernel/query.ts';
import { byBrowser, selectFleet } from './current-installations.ts';
import { toInventoryItem, variantsOf, type FleetRow, type InventoryItemView } from './inventory-item.ts';

export interface InventoryFilter {
  /** Substring of identifier or name, case-insensitive. */
  readonly search?: string | undefined;
  readonly riskLevel?: RiskLevel | undefined;
  /** Only extensions in this browser type, counted there. */
  readonly browserType?: (typeof browserTypes)[number] | undefined;
  readonly isWhitelisted?: boolean | undefined;
}

const FOUND = 'position(lower($5) in lower(n.name)) > 0 or position(lower($5) in lower(n.extension_id)) > 0';

// One pass over the installations yields both page and total.
const SQL = `
  with fleet as materialized (
    select f.* from (${selectFleet(byBrowser({ where: '$2::text is null or n.browser_type = $2', isFound: `$5::text is null or ${FOUND}` }))}) f
     where ($3::int is null or f.risk = $3) and ($4::boolean is null or f.is_listed = $4) and f.is_found)
  select t.total, p.*
    from (select count(*)::int as total from fleet) t
    left join (select * from fleet order by first_seen_at desc, extension_id limit $6 offset $7) p on true
   order by p.first_seen_at desc, p.extension_id`;

type PageRow = { readonly total: number } & (FleetRow | { readonly extension_id: null });

/** The fleet's extensions, latest first appearance first. */
export const listInventory: Query<InventoryFilter & Page, { extensions: InventoryItemView[] } & Paginated> = async (
  reads,
  input,
) => {
  const { search, riskLevel, browserType, isWhitelisted, page, pageSize } = input;
  const risk = riskLevel === undefined ? null : rankOf(riskLevel);
  const rows = await reads.rows<PageRow>(SQL, [
    browserType ?? null,
    risk,
    isWhitelisted ?? null,
    search ?? null,
    pageSize,
    (page - 1) * pageSize,
  ]);
  const shown = rows.filter((row): row is FleetRow & { total: number } => row.extension_id !== null);
  const variants = await variantsOf(
    reads,
    shown.map(({ extension_id }) => extension_id),
  );
  return {
    extensions: shown.map((row) => toInventoryItem(row, variants.get(row.extension_id) ?? [])),
    ...paginated(rows[0]?.total ?? 0, input),
  };
};
