import { z } from 'zod';
import { paginated, type Page, type Paginated, type Query, type TenantReads } from '../../src/platform/kernel/query.ts';
import { toAlertView, alertView, SELECT_ALERTS, type AlertView, type AlertWithNames } from '../alerts/alert-view.ts';
import {
  toEndpointView,
  endpointView,
  selectEndpoints,
  type EndpointWithDetails,
  type EndpointView,
} from '../discovery/endpoint-view.ts';
import {
  toEmployeeView,
  employeeView,
  selectEmployees,
  type EmployeeView,
  type EmployeeWithDevices,
} from '../employees/employee-view.ts';
import { asStoredHost, MAX_HITS } from './hits.ts';

export const searchedKinds = ['users', 'endpoints', 'alerts'] as const;
export type SearchedKind = (typeof searchedKinds)[number];

/** Choice OP-239. */
export const searchView = {
  query: z.string(),
  results: z.object({ users: z.array(employeeView), endpoints: z.array(endpointView), alerts: z.array(alertView) }),
  totals: z.object({ users: z.int(), endpoints: z.int(), alerts: z.int() }),
  /** A kind has at least as many results as its total says, because counting stops at 10,000. */
  totalIsLowerBound: z.boolean(),
};
export interface SearchResults extends Paginated {
  readonly query: string;
  readonly results: { users: EmployeeView[]; endpoints: EndpointView[]; alerts: AlertView[] };
  readonly totals: Record<SearchedKind, number>;
  readonly totalIsLowerBound: boolean;
}

const HITS = `
  with hits as materialized (select * from search_hits($2, $3, $4, ${MAX_HITS}) where $1::uuid = castellan_tenant())
  select (select count(*)::int from hits) as total, array(select id from hits order by at desc, id limit $5 offset $6) as ids`;
const USERS = `${selectEmployees('employees')} where e.tenant_id = $1 and e.user_id = any($2::uuid[]) order by e.created_at desc, e.user_id`;
const ENDPOINTS = `${selectEndpoints('endpoints')} where e.tenant_id = $1 and e.endpoint_id = any($2::uuid[]) order by e.first_seen_at desc, e.endpoint_id`;
const ALERTS = `${SELECT_ALERTS} where a.tenant_id = $1 and a.alert_id = any($2::uuid[]) order by a.created_at desc, a.alert_id`;

/** Finds records that contain the text, by kind, newest first. The requested page applies to every kind. */
export const search: Query<{ q: string; type: SearchedKind | 'all' } & Page, SearchResults> = async (
  reads,
  { q, type, ...page },
) => {
  const find = async (kind: SearchedKind): Promise<Hits> =>
    type === 'all' || type === kind ? hits(reads, kind, q, page) : NONE;
  const [users, endpoints, alerts] = await Promise.all([find('users'), find('endpoints'), find('alerts')]);
  const [people, hosts, raised] = await Promise.all([
    reads.rows<EmployeeWithDevices>(USERS, [users.ids]),
    reads.rows<EndpointWithDetails>(ENDPOINTS, [endpoints.ids]),
    reads.rows<AlertWithNames>(ALERTS, [alerts.ids]),
  ]);
  const totals = { users: users.total, endpoints: endpoints.total, alerts: alerts.total };
  return {
    query: q,
    results: {
      users: people.map(toEmployeeView),
      endpoints: hosts.map(toEndpointView),
      alerts: raised.map(toAlertView),
    },
    totals,
    totalIsLowerBound: Object.values(totals).some((total) => total >= MAX_HITS),
    // The number of pages is that of the kind with the most results.
    ...paginated(Math.max(...Object.values(totals)), page),
    total: totals.users + totals.endpoints + totals.alerts,
  };
};

interface Hits {
  readonly total: number;
  readonly ids: readonly string[];
}
const NONE: Hits = { total: 0, ids: [] };

const hits = async (reads: TenantReads, kind: SearchedKind, q: string, { page, pageSize }: Page): Promise<Hits> =>
  (await reads.figures<Hits>(HITS, [kind, q, asStoredHost(q), pageSize, (page - 1) * pageSize]))!;
