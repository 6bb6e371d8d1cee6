import type { Query } from '../../src/platform/kernel/query.ts';

const OPEN = `
  select schedule_id, count(*)::int as pages from on_call_pages
   where tenant_id = $1 and due_at is not null group by schedule_id`;

/** By schedule: how many pages wait for an answer. */
export const openPages: Query<undefined, ReadonlyMap<string, number>> = async (reads) => {
  const rows = await reads.rows<{ schedule_id: string; pages: number }>(OPEN);
  return new Map(rows.map(({ schedule_id: id, pages }) => [id, pages]));
};
