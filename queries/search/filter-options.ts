import { z } from 'zod';
import { alertTypes, type AlertType } from '../../src/contexts/alerts/domain/vocabulary.ts';
import { paginated, type Page, type Query } from '../../src/platform/kernel/query.ts';
import { numberedPage } from '../numbered-page.ts';
import { CURRENTLY_INSTALLED } from '../extensions/current-installations.ts';

/** Choice OP-241. */
export const filterOptionsView = z.object({
  options: z.array(z.object({ value: z.string(), label: z.string(), count: z.int() })),
  total: z.int(),
  page: z.int(),
  pageSize: z.int(),
  totalPages: z.int(),
});
export type FilterOptions = z.output<typeof filterOptionsView>;
type Option = FilterOptions['options'][number];

/** Most frequent first. `from` yields value, label and count of each option. */
const options =
  (from: string): Query<Page, FilterOptions> =>
  async (reads, page) => {
    const list = { body: from, order: 'p.count desc, p.label, p.value' };
    const { rows, ...pages } = await numberedPage<Option>(reads, list, [], page);
    return { options: rows, ...pages };
  };

/** Employees, counted by observations of their browsers. */
export const userOptions = options(`
  select e.user_id::text as value, e.display_name as label, coalesce(r.count, 0)::int as count
    from employees e
    left join (select user_id, sum(observations) as count from reporters where tenant_id = $1 group by user_id) r on r.user_id = e.user_id
   where e.tenant_id = $1`);

/** Devices, counted by their observations. */
export const deviceOptions = options(`
  select d.device_id::text as value, coalesce(d.hostname, e.display_name || ' (' || coalesce(d.browser_type, 'browser') || ')', d.device_fingerprint) as label,
         coalesce(r.count, 0)::int as count
    from devices d
    left join (select device_id, sum(observations) as count from reporters where tenant_id = $1 group by device_id) r on r.device_id = d.device_id
    left join employees e on e.tenant_id = $1 and e.user_id = d.user_id
   where d.tenant_id = $1`);

/** Technologies, counted by hosts. */
export const technologyOptions = options(`
  select name as value, name as label, count(*)::int as count from endpoint_technologies where tenant_id = $1 group by name`);

/** Browser extensions, counted by browsers, with the most frequent name. */
export const extensionOptions = options(`
  select n.extension_id as value, mode() within group (order by n.name) as label, count(*)::int as count
    from ${CURRENTLY_INSTALLED} n group by n.extension_id`);

/** Groups, counted by members. */
export const groupOptions = options(`
  select g.group_id::text as value, g.name as label,
         (select count(*)::int from group_members m where m.tenant_id = $1 and m.group_id = g.group_id) as count
    from groups g where g.tenant_id = $1`);

const RAISED = 'select alert_type as type, sum(raised)::int as count from alert_types where tenant_id = $1 group by 1';

/** All types of alert, including those without alerts. */
export const alertTypeOptions: Query<Page, FilterOptions> = async (reads, page) => {
  const raised = new Map(
    (await reads.rows<{ type: AlertType; count: number }>(RAISED)).map(({ type, count }) => [type, count]),
  );
  const all = alertTypes.map((type) => ({ value: type, label: wordsOf(type), count: raised.get(type) ?? 0 }));
  const sorted = all.toSorted((a, b) => b.count - a.count || (a.label < b.label ? -1 : 1));
  const first = (page.page - 1) * page.pageSize;
  return { options: sorted.slice(first, first + page.pageSize), ...paginated(all.length, page) };
};

/** Readable label: `password_reuse` becomes `Password reuse`. */
const wordsOf = (type: string): string =>
  (type[0]!.toUpperCase() + type.slice(1)).replaceAll('_', ' ').replace(/^Mfa/, 'MFA');
