import type { EmployeeRow } from '../../projections/employees/employees.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

export type DescribedEmployee = Pick<EmployeeRow, 'user_id' | 'display_name' | 'department' | 'job_title'>;

/** What an import can change, of these employees. */
export const describedEmployees: Query<{ userIds: readonly string[] }, DescribedEmployee[]> = (reads, { userIds }) =>
  reads.rows<DescribedEmployee>(
    'select user_id, display_name, department, job_title from employees where tenant_id = $1 and user_id = any($2::uuid[])',
    [userIds],
  );
