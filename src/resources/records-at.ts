import { orThrow } from '../kernel/failure.ts';
import type { TenantReads } from '../kernel/query.ts';
import type { AnyDefinedCollection } from './collection.ts';
import type { AnyValues } from './fields.ts';
import { resources } from './index.ts';

/** Lists that extensions are told of (choice OP-161) and that other rooms declare: known by where the interface puts them. */
export const SIGNATURES = '/api/v1/admin/signatures';
export const CLICKFIX_SIGNATURES = '/api/v1/admin/clickfix-signatures';
export const EXTENSION_WHITELIST = '/api/v1/admin/extension-monitoring/whitelist';
export const toldPaths: ReadonlySet<string> = new Set([SIGNATURES, CLICKFIX_SIGNATURES, EXTENSION_WHITELIST]);

/** The records of the collection that is declared at this path, those that are switched off left out; none where nothing is declared. */
export async function recordsAt(path: string, reads: TenantReads): Promise<readonly AnyValues[]> {
  const collection = resources.find(
    (resource): resource is AnyDefinedCollection => resource.kind === 'collection' && resource.declared.path === path,
  );
  if (!collection) return [];
  const records: readonly AnyValues[] = orThrow(await collection.all(reads, {}));
  return records.filter(({ isEnabled }) => isEnabled !== false);
}

/** These fields of a record and no others. */
export const picked = (record: AnyValues, names: readonly string[]): AnyValues =>
  Object.fromEntries(names.map((name) => [name, record[name] ?? null]));
