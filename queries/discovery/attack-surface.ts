import { z } from 'zod';
import type { SiteRow } from '../../projections/discovery/sites.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { KeysetPaginated, Page, Query } from '../../src/platform/kernel/query.ts';
import { ascending, descending, listPage, orderBy, type KeysetOrder } from '../keyset.ts';
import {
  toAuthEndpointView,
  authEndpointView,
  selectAuthEndpoints,
  type AuthEndpointWithDetails,
} from './auth-endpoint-view.ts';
import {
  toEndpointView,
  endpointView,
  selectEndpoints,
  technologyView,
  type EndpointWithDetails,
} from './endpoint-view.ts';
import { seenUserView, type SeenUser } from './seen-users.ts';

/** Choice OP-096. */
export const surfaceView = z.object({
  domain: z.string(),
  subdomainCount: z.int(),
  endpointCount: z.int(),
  authEndpointCount: z.int(),
  userCount: z.int(),
  riskScore: z.int(),
});
type Surface = z.output<typeof surfaceView>;

export const domainSurfaceView = surfaceView.extend({
  /** The parts of the risk score (`src/contexts/discovery/domain/risk.ts`). */
  riskFactors: z.array(z.object({ factor: z.string(), points: z.int() })),
  subdomains: z.array(z.object({ subdomain: z.string(), userCount: z.int(), lastSeenAt: z.iso.datetime() })),
  endpoints: z.array(endpointView),
});

export const subdomainSurfaceView = z.object({
  subdomain: z.string(),
  domain: z.string(),
  endpoints: z.array(endpointView),
  authEndpoints: z.array(authEndpointView),
  users: z.array(seenUserView),
  technologies: z.array(technologyView),
});

const MAX_USERS = 1_000;

const surfaces = (from: string, more = '') => `
  select s.site as domain, s.risk_score as "riskScore", ${more}
         (select count(*)::int from endpoints e where e.tenant_id = $1 and e.site = s.site and e.domain <> s.site) as "subdomainCount",
         (select count(*)::int from endpoints e where e.tenant_id = $1 and e.site = s.site) as "endpointCount",
         (select count(*)::int from auth_endpoints a where a.tenant_id = $1 and a.site = s.site) as "authEndpointCount",
         (select count(distinct u.user_id)::int from endpoint_users u where u.tenant_id = $1 and u.site = s.site) as "userCount"
    from ${from} s`;
const ONE = `${surfaces('sites', 's.risk_factors as "riskFactors",')} where s.tenant_id = $1 and s.site = $2`;
const HOSTS = `${selectEndpoints('(select * from endpoints where tenant_id = $1 and site = $2 order by domain limit $3 offset $4)')} order by e.domain`;
const HOST = `${selectEndpoints('endpoints')} where e.tenant_id = $1 and e.domain = $2`;
const SIGN_INS = `${selectAuthEndpoints('auth_endpoints')} where a.tenant_id = $1 and a.domain = $2`;
const USERS = `
  select u.user_id as id, e.email, e.display_name as "displayName", u.last_seen_at as "lastSeenAt", u.event_count as "eventCount"
    from endpoint_users u join employees e on e.tenant_id = $1 and e.user_id = u.user_id
   where u.tenant_id = $1 and u.domain = $2 order by u.last_seen_at desc, u.user_id limit ${MAX_USERS}`;

/** The view of one domain includes the parts of its score. */
type SurfaceInParts = Surface & { riskFactors: SiteRow['risk_factors'] };

export const surfaceOrder: KeysetOrder<Surface> = {
  list: 'attack-surface',
  columns: [descending('s.risk_score', 'integer'), ascending('s.site', 'text')],
  valuesOf: ({ riskScore, domain }) => [riskScore, domain],
};

/** Registrable domains that employees use, riskiest first. */
export const attackSurface: Query<Page, { domains: Surface[] } & KeysetPaginated> = async (reads, page) => {
  const { rows, ...pages } = await listPage(
    reads,
    {
      order: surfaceOrder,
      count: 'select count(*)::int as total from sites where tenant_id = $1',
      page: ({ where, tail }) =>
        `${surfaces(`(select * from sites s where s.tenant_id = $1 ${where} ${tail})`)} ${orderBy(surfaceOrder)}`,
    },
    [],
    page,
  );
  return { domains: rows, ...pages };
};

/** The page is one of its hosts, by name; `endpointCount` counts all. */
export const domainSurface: Query<{ domain: string } & Page, z.output<typeof domainSurfaceView>> = async (
  reads,
  { domain, page, pageSize },
) => {
  const [surface, hosts] = await Promise.all([
    reads.figures<SurfaceInParts>(ONE, [domain]),
    reads.rows<EndpointWithDetails>(HOSTS, [domain, pageSize, (page - 1) * pageSize]),
  ]);
  if (!surface) return notFound();
  const subdomains = hosts
    .filter((host) => host.domain !== domain)
    .map((host) => ({ subdomain: host.domain, userCount: host.user_count, lastSeenAt: host.last_seen_at }));
  return { ...surface, riskFactors: [...surface.riskFactors], subdomains, endpoints: hosts.map(toEndpointView) };
};

export const subdomainSurface: Query<{ subdomain: string }, z.output<typeof subdomainSurfaceView>> = async (
  reads,
  { subdomain },
) => {
  const [host, signIns, users] = await Promise.all([
    reads.one<EndpointWithDetails>(HOST, [subdomain]),
    reads.rows<AuthEndpointWithDetails>(SIGN_INS, [subdomain]),
    reads.rows<SeenUser>(USERS, [subdomain]),
  ]);
  if (!host) return notFound();
  const endpoint = toEndpointView(host);
  return {
    subdomain,
    domain: endpoint.domain,
    endpoints: [endpoint],
    authEndpoints: signIns.map(toAuthEndpointView),
    users,
    technologies: endpoint.technologies,
  };
};
