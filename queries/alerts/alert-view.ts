import { z } from 'zod';
import { alertStatuses, alertTypeSchema, severitySchema } from '../../src/contexts/alerts/domain/vocabulary.ts';
import type { AlertRow } from '../../projections/alerts/alerts.ts';

const when = z.iso.datetime().nullable();
const who = z.uuid().nullable();

/** An alert as the interface shows it (choice OP-070). */
export const alertView = z
  .object({
    id: z.uuid(),
    alertType: alertTypeSchema,
    severity: severitySchema,
    status: z.enum(alertStatuses),
    title: z.string(),
    description: z.string(),
    userId: who,
    userEmail: z.string().nullable(),
    userDisplayName: z.string().nullable(),
    deviceId: who,
    domain: z.string().nullable(),
    url: z.string().nullable(),
    /** The discovered endpoint of the alert's domain, if the domain was visited. */
    endpointId: who,
    eventId: who,
    screenshotIds: z.array(z.uuid()),
    policyId: who,
    assignedTo: who,
    assignedToName: z.string().nullable(),
    notes: z.string().nullable(),
    acknowledgedAt: when,
    acknowledgedBy: who,
    resolution: z.string().nullable(),
    resolvedAt: when,
    resolvedBy: who,
    policyAction: z
      .object({
        action: z.string(),
        policyId: who,
        policyName: z.string().nullable(),
        recordedAt: z.iso.datetime(),
        recordedBy: who,
      })
      .nullable(),
    forwardedAt: when,
    occurrenceCount: z.int(),
    /** When the last occurrence was reported. */
    lastOccurredAt: z.iso.datetime(),
    metadata: z.record(z.string(), z.unknown()),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ title: 'Alert' });
export type AlertView = z.output<typeof alertView>;

/** An alert with joined data of other tables: personal data has its own tables and is deleted with the person. */
export interface AlertWithNames extends AlertRow {
  readonly url: string | null;
  readonly user_email: string | null;
  readonly user_display_name: string | null;
  readonly assigned_to_name: string | null;
  readonly endpoint_id: string | null;
  readonly screenshot_ids: string[];
}

/** Maximum number over all observations that an alert names. */
const MAX_SCREENSHOTS = 50;

export const SELECT_ALERTS = `
  select a.*, p.url, e.email as user_email, e.display_name as user_display_name, u.display_name as assigned_to_name, n.endpoint_id,
         case when a.event_id is null and not a.metadata ? 'observationIds' then '{}' else array(
               select s.screenshot_id from screenshots s
                where s.tenant_id = a.tenant_id and s.event_id = any (array_append(array(
                        select id::uuid from jsonb_array_elements_text(case jsonb_typeof(a.metadata -> 'observationIds') when 'array' then a.metadata -> 'observationIds' else '[]' end) id
                         where id ~ '^[0-9a-f-]{36}$'), a.event_id))
                order by s.captured_at, s.screenshot_id limit ${MAX_SCREENSHOTS}) end as screenshot_ids
    from alerts a
    left join alert_addresses p on p.tenant_id = a.tenant_id and p.alert_id = a.alert_id
    left join employees e on e.tenant_id = a.tenant_id and e.user_id = a.user_id
    left join admin_users u on u.tenant_id = a.tenant_id and u.admin_id = a.assigned_to
    left join endpoints n on n.tenant_id = a.tenant_id and n.domain = a.domain`;

export const toAlertView = (row: AlertWithNames): AlertView => ({
  id: row.alert_id,
  alertType: row.alert_type,
  severity: row.severity,
  status: row.status,
  title: row.title,
  description: row.description,
  userId: row.user_id,
  userEmail: row.user_email,
  userDisplayName: row.user_display_name,
  deviceId: row.device_id,
  domain: row.domain,
  url: row.url,
  endpointId: row.endpoint_id,
  eventId: row.event_id,
  screenshotIds: row.screenshot_ids,
  policyId: row.policy_action?.policyId ?? null,
  assignedTo: row.assigned_to,
  assignedToName: row.assigned_to_name,
  notes: row.notes,
  acknowledgedAt: row.acknowledged_at,
  acknowledgedBy: row.acknowledged_by,
  resolution: row.resolution,
  resolvedAt: row.resolved_at,
  resolvedBy: row.resolved_by,
  policyAction: row.policy_action,
  forwardedAt: row.forwarded_at,
  occurrenceCount: row.occurrence_count,
  lastOccurredAt: row.last_occurred_at,
  metadata: row.metadata,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});
