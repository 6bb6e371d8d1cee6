import type { Query } from '../../src/platform/kernel/query.ts';

/** Runs in the installation's scope: the base URLs of its tenants, at most two, that of this host first. */
export const baseUrlsNear: Query<{ host: string }, { url: string; isNamed: boolean }[]> = (reads, { host }) =>
  reads.rows(
    `select external_base_url as url, bool_or(host = $2) as "isNamed" from tenant_directory
      where tenant_id = $1 group by external_base_url order by 2 desc, 1 desc limit 2`,
    [host],
  );
