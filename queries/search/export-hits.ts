import type { TenantReads } from '../../src/kernel/query.ts';
import { IS_MALICIOUS } from '../discovery/endpoint-view.ts';
import { MOST_HITS } from './hits.ts';
import type { SearchedKind } from './search.ts';

/** A hit as a line of a file: the same columns for every kind. */
export interface ExportedHit {
  readonly type: 'user' | 'endpoint' | 'alert';
  readonly id: string;
  readonly label: string;
  readonly detail: string | null;
  readonly domain: string | null;
  readonly status: string;
  readonly severity: string | null;
  readonly createdAt: string;
}

const SQL = `
  select 'user' as type, e.user_id as id, e.display_name as label, e.email as detail, null as domain, e.status as status, null as severity, e.created_at as "createdAt"
    from search_hits('users', $2, ${MOST_HITS}) h join employees e on e.user_id = h.id where e.tenant_id = $1 and $3 in ('all', 'users')
  union all
  select 'endpoint', e.endpoint_id, e.domain, p.title, e.site, coalesce(c.classification, 'unknown'), case when ${IS_MALICIOUS} then 'malicious' end, e.first_seen_at
    from search_hits('endpoints', $2, ${MOST_HITS}) h join endpoints e on e.endpoint_id = h.id
    left join endpoint_pages p on p.tenant_id = $1 and p.domain = e.domain
    left join endpoint_classifications c on c.tenant_id = $1 and c.endpoint_id = e.endpoint_id
   where e.tenant_id = $1 and $3 in ('all', 'endpoints')
  union all
  select 'alert', a.alert_id, a.title, a.description, a.domain, a.status, a.severity, a.created_at
    from search_hits('alerts', $2, ${MOST_HITS}) h join alerts a on a.alert_id = h.id where a.tenant_id = $1 and $3 in ('all', 'alerts')
   order by "createdAt" desc, id limit ${MOST_HITS}`;

/** Everything that a search finds, newest first, read in pages of constant memory. */
export const exportHits = (reads: TenantReads, { q, type }: { q: string; type: SearchedKind | 'all' }): AsyncIterable<ExportedHit> => reads.stream<ExportedHit>(SQL, [q, type]);
