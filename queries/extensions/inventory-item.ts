import { z } from 'zod';
import { levelOf, riskLevels } from '../../src/contexts/extensions/domain/permission-risk.ts';
import { compareVersions } from '../../src/contexts/extensions/domain/version-order.ts';
import type { TenantReads } from '../../src/platform/kernel/query.ts';
import { installationsOf } from './current-installations.ts';

/**
 * An extension in the fleet (choice OP-196). `permissions` is the union over all installations; `riskLevel` is the
 * highest.
 */
export const inventoryItemView = z
  .object({
    extensionId: z.string(),
    name: z.string(),
    latestVersion: z.string(),
    publisher: z.string().nullable(),
    permissions: z.array(z.string()),
    riskLevel: z.enum(riskLevels),
    /** Number of browsers that have it now. */
    installCount: z.int(),
    /** True if whitelisted in every browser that has it. */
    isWhitelisted: z.boolean(),
    firstSeenAt: z.iso.datetime(),
    lastSeenAt: z.iso.datetime(),
  })
  .meta({ title: 'InventoryItem' });
export type InventoryItemView = z.output<typeof inventoryItemView>;

export interface FleetRow {
  readonly extension_id: string;
  readonly install_count: number;
  readonly risk: number;
  readonly is_listed: boolean;
  readonly first_seen_at: string;
  readonly last_seen_at: string;
}

/** Installations of one extension with identical attributes. */
export interface InstalledVariant {
  readonly extension_id: string;
  readonly name: string;
  readonly version: string;
  readonly publisher: string | null;
  readonly permissions: readonly string[];
  readonly install_count: number;
  readonly last_seen_at: string;
}

const VARIANTS = `
  select n.extension_id, n.name, n.version, n.publisher, n.permissions, count(*)::int as install_count, max(n.last_seen_at) as last_seen_at
    from ${installationsOf('x.extension_id = any($2)')} n
   group by n.extension_id, n.name, n.version, n.publisher, n.permissions`;

export async function variantsOf(
  reads: TenantReads,
  extensionIds: readonly string[],
): Promise<Map<string, InstalledVariant[]>> {
  const variants = new Map<string, InstalledVariant[]>();
  for (const variant of await reads.rows<InstalledVariant>(VARIANTS, [extensionIds])) {
    const others = variants.get(variant.extension_id);
    if (others) others.push(variant);
    else variants.set(variant.extension_id, [variant]);
  }
  return variants;
}

/** Name, publisher and version come from the newest version, in the browser that was active last. */
export function toInventoryItem(row: FleetRow, variants: readonly InstalledVariant[]): InventoryItemView {
  const newest = variants.toSorted(
    (a, b) => compareVersions(b.version, a.version) || (a.last_seen_at < b.last_seen_at ? 1 : -1),
  )[0];
  return {
    extensionId: row.extension_id,
    name: newest?.name ?? row.extension_id,
    latestVersion: newest?.version ?? '',
    publisher: newest?.publisher ?? null,
    permissions: [...new Set(variants.flatMap(({ permissions }) => permissions))].toSorted(),
    riskLevel: levelOf(row.risk),
    installCount: row.install_count,
    isWhitelisted: row.is_listed,
    firstSeenAt: row.first_seen_at,
    lastSeenAt: row.last_seen_at,
  };
}
