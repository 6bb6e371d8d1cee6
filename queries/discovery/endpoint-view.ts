import { z } from 'zod';
import type { EndpointRow } from '../../projections/discovery/endpoints.ts';
import { categoryOf } from '../../src/contexts/discovery/domain/technologies.ts';
import { classifications, type Classification } from '../../src/contexts/discovery/domain/vocabulary.ts';

export const technologyView = z.object({
  name: z.string(),
  version: z.string().nullable(),
  category: z.string(),
  /** 0..100: percentage of the fingerprinted visits that found it. */
  confidence: z.int(),
});

/**
 * A discovered host as the interface shows it (choice OP-090). `subdomain` is the host if it differs from the domain.
 */
export const endpointView = z
  .object({
    id: z.uuid(),
    domain: z.string(),
    subdomain: z.string().nullable(),
    url: z.string(),
    title: z.string().nullable(),
    classification: z.enum(classifications),
    technologies: z.array(technologyView),
    userCount: z.int(),
    credentialCount: z.int(),
    isMalicious: z.boolean(),
    firstSeenAt: z.iso.datetime(),
    lastSeenAt: z.iso.datetime(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ title: 'Endpoint' });
export type EndpointView = z.output<typeof endpointView>;

export interface EndpointWithDetails extends EndpointRow {
  readonly url: string | null;
  readonly title: string | null;
  readonly classification: Classification;
  readonly classified_at: string | null;
  readonly is_malicious: boolean;
  readonly user_count: number;
  readonly credential_count: number;
}

/**
 * Whether a browser reported the host, or a threat-intelligence service calls it malicious, or an analyst does. A host
 * that an analyst approved is not malicious. `s` is its row of `domain_scans`.
 */
export const IS_MALICIOUS = `(coalesce(c.classification, '') = 'malicious' or ((e.reported_malicious or coalesce(s.is_malicious, false)) and coalesce(c.classification, '') not in ('corporate', 'approved')))`;

/** `from` yields rows of `endpoints`; their alias is `e`. People and accounts are counted in indexes. */
export const selectEndpoints = (from: string): string => `
  select e.*, p.url, p.title, coalesce(c.classification, 'unknown') as classification, c.classified_at, ${IS_MALICIOUS} as is_malicious,
         (select count(*)::int from endpoint_users u where u.tenant_id = $1 and u.domain = e.domain) as user_count,
         (select coalesce(sum(u.credential_count), 0)::int from endpoint_users u
           where u.tenant_id = $1 and u.domain = e.domain and u.credential_count > 0) as credential_count
    from ${from} e
    left join endpoint_pages p on p.tenant_id = $1 and p.domain = e.domain
    left join endpoint_classifications c on c.tenant_id = $1 and c.endpoint_id = e.endpoint_id
    left join domain_scans s on s.tenant_id = $1 and s.domain = e.domain`;

export const toEndpointView = (row: EndpointWithDetails): EndpointView => ({
  id: row.endpoint_id,
  domain: row.site,
  subdomain: row.domain === row.site ? null : row.domain,
  url: row.url ?? `https://${row.domain}/`,
  title: row.title,
  classification: row.classification,
  technologies: row.technologies.map(([name, version, , visits]) => ({
    name,
    version,
    category: categoryOf(name),
    confidence: Math.round((100 * visits) / row.fingerprinted_visits),
  })),
  userCount: row.user_count,
  credentialCount: row.credential_count,
  isMalicious: row.is_malicious,
  firstSeenAt: row.first_seen_at,
  lastSeenAt: row.last_seen_at,
  createdAt: row.first_seen_at,
  updatedAt: row.classified_at !== null && row.classified_at > row.last_seen_at ? row.classified_at : row.last_seen_at,
});
