import type { KeysetPaginated, Page, Query } from '../../src/platform/kernel/query.ts';
import { ascending, descending, listPage, orderBy, type KeysetOrder } from '../keyset.ts';
import { asStoredHost } from '../search/hits.ts';
import {
  toEmployeeView,
  selectEmployees,
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
     and ($2::text is null or strpos(lower(e.email), lower($2)) > 0 or strpos(lower(e.display_name), lower($2)) > 0
       or strpos(lower(e.email), lower($5)) > 0)
     and ($3::text is null or lower(e.department) = lower($3))
     and ($4::text is null or e.status = $4)`;
const COUNT = `select count(*)::int as total from employees e ${FILTER}`;

export const employeeOrder: KeysetOrder<EmployeeWithDevices> = {
  list: 'users',
  columns: [descending('e.created_at', 'timestamptz'), ascending('e.user_id', 'uuid')],
  valuesOf: ({ created_at, user_id }) => [created_at, user_id],
};

// Select the page first: devices and risk are read only for the people shown.
const pageOf = (where: string, tail: string) =>
  `${selectEmployees(`(select e.* from employees e ${FILTER} ${where} ${tail})`)} ${orderBy(employeeOrder)}`;

export const listEmployees: Query<EmployeeFilter & Page, { users: EmployeeView[] } & KeysetPaginated> = async (
  reads,
  input,
) => {
  const { rows, ...pages } = await listPage(
    reads,
    { order: employeeOrder, count: COUNT, page: ({ where, tail }) => pageOf(where, tail) },
    [
      input.search ?? null,
      input.department ?? null,
      input.status ?? null,
      input.search === undefined ? null : asStoredHost(input.search),
    ],
    input,
  );
  return { users: rows.map(toEmployeeView), ...pages };
};
