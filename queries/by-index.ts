/**
 * The condition and order of the one row with these values in an index that begins with the tenant and these columns.
 * Only that index has the order, and the condition is no equality for which another index that shares columns with it
 * would look as good. So the planner takes it with and without statistics: autovacuum makes them a minute after many
 * rows were written. The tenant stays an equality beside it (row-level security adds one, where a scan begins).
 */
export const oneByIndex = (columns: readonly string[], values: readonly string[]): string => {
  const [row, key] = [columns.join(', '), values.join(', ')];
  return `(${row}) >= (${key}) and (${row}) <= (${key}) order by ${row} limit 1`;
};
