import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { toEmployeeView, selectEmployees, type EmployeeView, type EmployeeWithDevices } from './employee-view.ts';

const SQL = `${selectEmployees('employees')} where e.tenant_id = $1 and e.user_id = $2`;

export const getEmployee: Query<{ userId: string }, EmployeeView> = async (reads, { userId }) => {
  const row = await reads.one<EmployeeWithDevices>(SQL, [userId]);
  return row ? toEmployeeView(row) : notFound();
};
