import type { Query } from '../../src/platform/kernel/query.ts';

/** What administrators call these SCIM clients and directory sources, by id. One that is gone is left out. */
export const sourceNames: Query<{ readonly sourceIds: readonly string[] }, ReadonlyMap<string, string>> = async (
  reads,
  { sourceIds },
) => {
  const rows = await reads.rows<{ id: string; name: string }>(
    `select client_id as id, name from scim_clients where tenant_id = $1 and client_id = any($2)
      union all
     select source_id as id, name from directory_sources where tenant_id = $1 and source_id = any($2)`,
    [sourceIds],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
};
