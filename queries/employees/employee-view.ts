import { z } from 'zod';
import type { EmployeeRow } from '../../projections/employees/employees.ts';
import { severities } from '../../src/contexts/alerts/domain/vocabulary.ts';
import {
  employeeRiskFactors,
  employeeRiskNames,
  employeeRiskScore,
  type EmployeeRiskFactor,
} from '../../src/contexts/employees/domain/risk.ts';
import { ownedFields, provisioningKinds, type OwningLink } from '../../src/contexts/employees/domain/provisioning.ts';
import { inPrecedence } from '../../src/contexts/employees/domain/employee.ts';
import { employeeSources } from '../../src/contexts/employees/domain/events.ts';

export const employeeStatuses = ['active', 'inactive', 'pending'] as const;
export type EmployeeStatus = (typeof employeeStatuses)[number];

const sourceView = z.object({ kind: z.enum(provisioningKinds), id: z.uuid() }).meta({ title: 'ProvisioningSource' });

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
    /** The sum of `riskFactors`, at most 100. */
    riskScore: z.int(),
    riskFactors: z.array(z.object({ factor: z.enum(employeeRiskNames), points: z.int() })),
    lastSeenAt: z.iso.datetime().nullable(),
    /** The SCIM client and the directory source that maintain the employee, in the order of their precedence. */
    sources: z.array(sourceView),
    /** Fields that a source decides about: a change here is refused. */
    ownedFields: z.array(z.object({ field: z.string(), source: sourceView })),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ title: 'Employee' });
export type EmployeeView = z.output<typeof employeeView>;

export interface EmployeeWithDevices extends EmployeeRow {
  readonly device_count: number;
  readonly last_seen_at: string | null;
  readonly open_critical: number;
  readonly open_high: number;
  readonly open_medium: number;
  readonly open_low: number;
  readonly breached_count: number;
  readonly reused_count: number;
  /** What sources state, in no order. */
  readonly links: readonly OwningLink[];
}

/**
 * `from` yields rows of `employees`; their alias is `e`. Device count and last activity come from `devices`, because a
 * revocation event does not name the user. The facts of the risk score come from alerts and credentials.
 */
export const selectEmployees = (from: string): string => `
  select e.*, d.device_count, d.last_seen_at, a.*,
         l.links, coalesce(c.breached_count, 0) as breached_count, coalesce(c.reused_count, 0) as reused_count
    from ${from} e
   cross join lateral (
     select (count(*) filter (where d.status in ('active', 'wipe_pending')))::int as device_count,
            max(greatest(d.last_seen_at, d.enrolled_at)) as last_seen_at
       from devices d where d.tenant_id = $1 and d.user_id = e.user_id) d
   cross join lateral (
     select ${severities.map((name) => `(count(*) filter (where a.severity = '${name}'))::int as open_${name}`).join(', ')}
       from alerts a
      where a.tenant_id = $1 and a.user_id = e.user_id and a.status in ('open', 'acknowledged')) a
   cross join lateral (
     select coalesce(jsonb_agg(jsonb_build_object(
              'source', jsonb_build_object('kind', p.source_kind, 'id', p.source_id), 'isActive', p.is_active,
              'email', p.email, 'displayName', p.display_name, 'department', p.department, 'jobTitle', p.job_title,
              'externalId', p.external_id, 'upn', p.upn, 'sid', p.sid)), '[]') as links
       from provisioned_people p where p.tenant_id = $1 and p.user_id = e.user_id) l
    left join credential_stats c on c.tenant_id = $1 and c.user_id = e.user_id`;

const riskFactorsOf = (row: EmployeeWithDevices): EmployeeRiskFactor[] =>
  employeeRiskFactors({
    openAlerts: { critical: row.open_critical, high: row.open_high, medium: row.open_medium, low: row.open_low },
    breachedCredentials: row.breached_count,
    reusedCredentials: row.reused_count,
  });

export function toEmployeeView(row: EmployeeWithDevices): EmployeeView {
  const riskFactors = riskFactorsOf(row);
  const links = inPrecedence(row.links);
  return {
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
    riskScore: employeeRiskScore(riskFactors),
    riskFactors,
    lastSeenAt: row.last_seen_at,
    sources: links.map(({ source }) => source),
    ownedFields: ownedFields(links),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
