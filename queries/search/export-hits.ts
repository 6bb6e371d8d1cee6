import { z } from 'zod';
import type { TenantReads } from '../../src/platform/kernel/query.ts';
import { IS_MALICIOUS } from '../discovery/endpoint-view.ts';
import { asStoredHost, MAX_HITS } from './hits.ts';
import type { SearchedKind } from './search.ts';

/** A search result as a line of a file: the same columns for every kind. */
export const exportedHitView = z.object({
  type: z.enum(['user', 'endpoint', 'alert']),
  id: z.string(),
  label: z.string(),
  detail: z.string().nullable(),
  domain: z.string().nullable(),
  status: z.string(),
  severity: z.string().nullable(),
  createdAt: z.iso.datetime(),
});
export type ExportedHit = z.output<typeof exportedHitView>;

/** Rows per read. */
const PAGE = 500;

/** Ids of the results only, newest first: 10,000 of them are less than a megabyte. */
const FOUND = `
  select h.kind, h.id from (
    select 'users' as kind, id, at from search_hits('users', $2, $4, ${MAX_HITS}) where $3 in ('all', 'users')
    union all select 'endpoints', id, at from search_hits('endpoints', $2, $4, ${MAX_HITS}) where $3 in ('all', 'endpoints')
    union all select 'alerts', id, at from search_hits('alerts', $2, $4, ${MAX_HITS}) where $3 in ('all', 'alerts')) h
   where $1::uuid = castellan_tenant() order by h.at desc, h.id limit ${MAX_HITS}`;

const ROWS = `
  select 'user' as type, e.user_id as id, e.display_name as label, e.email as detail, null as domain, e.status as status, null as severity, e.created_at as "createdAt"
    from employees e where e.tenant_id = $1 and e.user_id = any($2::uuid[])
  union all
  select 'endpoint', e.endpoint_id, e.domain, p.title, e.site, coalesce(c.classification, 'unknown'), case when ${IS_MALICIOUS} then 'malicious' end, e.first_seen_at
    from endpoints e
    left join endpoint_pages p on p.tenant_id = $1 and p.domain = e.domain
    left join endpoint_classifications c on c.tenant_id = $1 and c.endpoint_id = e.endpoint_id
    left join domain_scans s on s.tenant_id = $1 and s.domain = e.domain
   where e.tenant_id = $1 and e.endpoint_id = any($3::uuid[])
  union all
  select 'alert', a.alert_id, a.title, a.description, a.domain, a.status, a.severity, a.created_at
    from alerts a where a.tenant_id = $1 and a.alert_id = any($4::uuid[])`;

interface Hit {
  readonly kind: SearchedKind;
  readonly id: string;
}

/**
 * Exports all results of a search, newest first. Ids are read at once, their rows page by page: a slow client holds
 * neither a connection nor a transaction. Rows deleted in the meantime are left out.
 */
export async function* exportHits(
  reads: TenantReads,
  { q, type }: { q: string; type: SearchedKind | 'all' },
  page = PAGE,
): AsyncGenerator<ExportedHit> {
  const found = await reads.rows<Hit>(FOUND, [q, type, asStoredHost(q)]);
  for (let from = 0; from < found.length; from += page) yield* await rowsOf(reads, found.slice(from, from + page));
}

async function rowsOf(reads: TenantReads, hits: readonly Hit[]): Promise<ExportedHit[]> {
  const idsOf = (wanted: SearchedKind) => hits.filter(({ kind }) => kind === wanted).map(({ id }) => id);
  const rows = await reads.rows<ExportedHit>(ROWS, [idsOf('users'), idsOf('endpoints'), idsOf('alerts')]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return hits.flatMap(({ id }) => byId.get(id) ?? []);
}
