import type { browserTypes } from '../../src/contexts/devices/domain/events.ts';
import { rankOf, type RiskLevel } from '../../src/contexts/extensions/domain/permission-risk.ts';
import type { KeysetPaginated, Page, Query } from '../../src/platform/kernel/query.ts';
import { ascending, descending, keysetPage, orderBy, pageClauses, type KeysetOrder } from '../keyset.ts';
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

export const inventoryOrder: KeysetOrder<FleetRow> = {
  list: 'extension-inventory',
  columns: [descending('p.first_seen_at', 'timestamptz'), ascending('p.extension_id', 'text')],
  valuesOf: ({ first_seen_at, extension_id }) => [first_seen_at, extension_id],
};

// One pass over the installations yields both page and total.
const pageOf = (where: string, tail: string) => `
  with fleet as materialized (
    select f.* from (${selectFleet(byBrowser({ where: '$2::text is null or n.browser_type = $2', isFound: `$5::text is null or ${FOUND}` }))}) f
     where ($3::int is null or f.risk = $3) and ($4::boolean is null or f.is_listed = $4) and f.is_found)
  select t.total, p.*
    from (select count(*)::int as total from fleet) t
    left join (select * from fleet p where true ${where} ${tail}) p on true
   ${orderBy(inventoryOrder)}`;

type PageRow = { readonly total: number } & (FleetRow | { readonly extension_id: null });

/** The fleet's extensions, latest first appearance first. */
export const listInventory: Query<
  InventoryFilter & Page,
  { extensions: InventoryItemView[] } & KeysetPaginated
> = async (reads, input) => {
  const { search = null, riskLevel, browserType = null, isWhitelisted = null } = input;
  const filter = [browserType, riskLevel === undefined ? null : rankOf(riskLevel), isWhitelisted, search];
  const { where, tail, parameters } = pageClauses(inventoryOrder, filter.length + 2, input);
  const found = await reads.rows<PageRow>(pageOf(where, tail), [...filter, ...parameters]);
  const matching = found.filter((row): row is FleetRow & { total: number } => row.extension_id !== null);
  const { rows: shown, ...pages } = keysetPage(inventoryOrder, matching, found[0]?.total ?? 0, input);
  const variants = await variantsOf(
    reads,
    shown.map(({ extension_id }) => extension_id),
  );
  return {
    extensions: shown.map((row) => toInventoryItem(row, variants.get(row.extension_id) ?? [])),
    ...pages,
  };
};
