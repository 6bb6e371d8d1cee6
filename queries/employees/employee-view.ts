import { z } from 'zod';
import type { EmployeeRow } from '../../projections/employees/employees.ts';
import { employeeSources } from '../../src/contexts/employees/domain/events.ts';

export const employeeStatuses = ['active', 'inactive', 'pending'] as const;
export type EmployeeStatus = (typeof employeeStatuses)[number];

/** An employee as the interface shows them (choice OP-060). */
export const employeeView = z
  .object({
    id: z.uuid(),
    email: z.string(),
    displayName: z.string(),
    department: z.string().nullable(),
    jobTitle: z.string().nullable(),
    status: z.enum(employeeStatuses),
    source: z.enum(employeeSources),
    externalId: z.string().nullable(),
    isPlaceholder: z.boolean(),
    deviceCount: z.int(),
    riskScore: z.int(),
    lastSeenAt: z.iso.datetime().nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ title: 'Employee' });
export type EmployeeView = z.output<typeof employeeView>;

export interface EmployeeWithDevices extends EmployeeRow {
  readonly device_count: number;
  readonly last_seen_at: string | null;
}

/** Device count and last activity come from `devices`, because a revocation event does not name the user. */
export const SELECT_EMPLOYEES = `
  select e.*, d.device_count, d.last_seen_at
    from employees e
   cross join lateral (
     select (count(*) filter (where d.status in ('active', 'wipe_pending')))::int as device_count,
            max(greatest(d.last_seen_at, d.enrolled_at)) as last_seen_at
       from devices d where d.tenant_id = $1 and d.user_id = e.user_id) d`;

export const toEmployeeView = (row: EmployeeWithDevices): EmployeeView => ({
  id: row.user_id,
  email: row.email,
  displayName: row.display_name,
  department: row.department,
  jobTitle: row.job_title,
  status: row.status,
  source: row.source,
  externalId: row.external_id,
  isPlaceholder: row.is_placeholder,
  deviceCount: row.device_count,
  riskScore: row.risk_score,
  lastSeenAt: row.last_seen_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});
