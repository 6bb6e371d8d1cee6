import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { toInventoryItem, variantsOf, type FleetRow } from './inventory-item.ts';
import { byBrowser, selectFleet, installationsOf } from './current-installations.ts';

export interface ReportedExtension {
  readonly extensionId: string;
  readonly name: string;
  readonly publisher: string | null;
}

// Compared case-insensitively, like the whitelist; returns the most frequently reported spelling.
const SQL = `select f.* from (${selectFleet(byBrowser({ from: installationsOf('lower(x.extension_id) = lower($2)') }))}) f order by f.extension_id = $2 desc, f.install_count desc, f.extension_id limit 1`;

/**
 * Name and publisher of an installed extension as the fleet reports them. Control characters are replaced, because the
 * whitelist refuses them.
 */
export const reportedExtension: Query<{ extensionId: string }, ReportedExtension> = async (reads, { extensionId }) => {
  const row = await reads.figures<FleetRow>(SQL, [extensionId]);
  if (!row) return notFound();
  const { name, publisher } = toInventoryItem(
    row,
    (await variantsOf(reads, [row.extension_id])).get(row.extension_id) ?? [],
  );
  return {
    extensionId: row.extension_id,
    name: onOneLine(name),
    publisher: publisher === null ? null : onOneLine(publisher),
  };
};

const onOneLine = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ').trim();
