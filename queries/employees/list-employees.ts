import { paginated, type Page, type Paginated, type Query } from '../../src/platform/kernel/query.ts';
import {
  toEmployeeView,
  SELECT_EMPLOYEES,
  type EmployeeStatus,
  type EmployeeView,
  type EmployeeWithDevices,
} from './employee-view.ts';

export interface EmployeeFilter {
  /** Substring of e-mail or name, case-insensitive (choice OP-008). */
  readonly search?: string | undefined;
  readonly department?: string | undefined;
  readonly status?: EmployeeStatus | undefined;
}

const FILTER = `
   where e.tenant_id = $1
     and ($2::text is null or strpos(lower(e.email), lower($2)) > 0 or strpos(lower(e.display_name), lower($2)) > 0)
     and ($3::text is null or lower(e.department) = lower($3))
     and ($4::text is null or e.status = $4)`;
const COUNT = `select count(*)::int as total from employees e ${FILTER}`;
const PAGE = `${SELECT_EMPLOYEES} ${FILTER} order by e.created_at desc, e.user_id limit $5 offset $6`;

export const listEmployees: Query<EmployeeFilter & Page, { users: EmployeeView[] } & Paginated> = async (
  reads,
  input,
) => {
  const filter = [input.search ?? null, input.department ?? null, input.status ?? null];
  const [count, rows] = await Promise.all([
    reads.figures<{ total: number }>(COUNT, filter),
    reads.rows<EmployeeWithDevices>(PAGE, [...filter, input.pageSize, (input.page - 1) * input.pageSize]),
  ]);
  return { users: rows.map(toEmployeeView), ...paginated(count?.total ?? 0, input) };
};
