import { alertEvents } from '../../src/contexts/alerts/domain/events.ts';
import type { AlertStatus, AlertType, Severity } from '../../src/contexts/alerts/domain/vocabulary.ts';
import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { ERASED } from '../../src/platform/kernel/event.ts';
import {
  at,
  changeExisting,
  defineReadModel,
  id,
  integer,
  json,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

interface PolicyAction {
  readonly action: string;
  readonly policyId: string | null;
  readonly policyName: string | null;
  readonly recordedAt: string;
  readonly recordedBy: string | null;
}

const columns = {
  alert_id: id,
  alert_type: text as Column<AlertType>,
  severity: text as Column<Severity>,
  status: text as Column<AlertStatus>,
  title: text,
  description: text,
  fingerprint: text,
  user_id: nullable(id),
  device_id: nullable(id),
  domain: nullable(text),
  event_id: nullable(id),
  assigned_to: nullable(id),
  notes: nullable(text),
  acknowledged_at: nullable(timestamp),
  acknowledged_by: nullable(id),
  resolution: nullable(text),
  resolved_at: nullable(timestamp),
  resolved_by: nullable(id),
  policy_action: nullable(json<PolicyAction>()),
  forwarded_at: nullable(timestamp),
  occurrence_count: integer,
  metadata: json<Record<string, unknown>>(),
  /** When the last occurrence was reported. Triage does not change it. */
  last_occurred_at: timestamp,
  created_at: timestamp,
  updated_at: timestamp,
};
export type AlertRow = Row<{ columns: typeof columns }>;

const change = changeExisting<AlertRow>()('alert_id');

/**
 * The alerts of `GET /alerts` and `GET /alerts/{alertID}`. An erasure deletes the person's alerts; the figures keep
 * counting them.
 */
export const alerts = defineReadModel({
  name: 'alerts',
  version: 4,
  lane: 'main',
  columns,
  key: ['alert_id'],
  indexes: [
    ['created_at desc', 'alert_id'],
    ['status', 'created_at desc'],
    ['user_id', 'created_at desc'],
    ['domain', 'created_at desc'],
    ['device_id', 'created_at desc'],
  ],
  families: [alertEvents, employeeEvents],
  on: {
    AlertRaised: (event) => ({
      key: { alert_id: event.data.alertId },
      fold: () => {
        const { alertType, severity, title, description, fingerprint, userId, deviceId, domain, cause, metadata } =
          event.data;
        if (title === ERASED) return undefined;
        return {
          alert_id: event.data.alertId,
          alert_type: alertType,
          severity,
          status: 'open',
          title,
          description,
          fingerprint,
          user_id: userId,
          device_id: deviceId,
          domain,
          event_id: cause,
          assigned_to: null,
          notes: null,
          acknowledged_at: null,
          acknowledged_by: null,
          resolution: null,
          resolved_at: null,
          resolved_by: null,
          policy_action: null,
          forwarded_at: null,
          occurrence_count: 1,
          metadata,
          last_occurred_at: event.data.raisedAt ?? at(event),
          created_at: event.data.raisedAt ?? at(event),
          updated_at: event.data.raisedAt ?? at(event),
        };
      },
    }),
    AlertRepeated: (event) =>
      change(event.data.alertId, (row) => ({
        ...row,
        occurrence_count: row.occurrence_count + event.data.occurrences,
        last_occurred_at: at(event),
        updated_at: at(event),
      })),
    AlertAcknowledged: (event) =>
      change(event.data.alertId, (row) => ({
        ...row,
        status: 'acknowledged',
        notes: event.data.notes ?? row.notes,
        acknowledged_at: row.acknowledged_at ?? event.data.is?.acknowledgedAt ?? at(event),
        acknowledged_by: row.acknowledged_by ?? event.metadata.actor.id,
        updated_at: at(event),
      })),
    AlertResolved: (event) =>
      change(event.data.alertId, (row) => ({
        ...row,
        status: event.data.status,
        resolution: event.data.resolution,
        resolved_at: event.data.is?.resolvedAt ?? at(event),
        resolved_by: event.metadata.actor.id,
        updated_at: at(event),
      })),
    AlertReopened: (event) =>
      change(event.data.alertId, (row) => ({
        ...row,
        status: 'open',
        notes: event.data.notes ?? row.notes,
        resolution: null,
        resolved_at: null,
        resolved_by: null,
        acknowledged_at: null,
        acknowledged_by: null,
        policy_action: null,
        updated_at: at(event),
      })),
    AlertAssigned: (event) =>
      change(event.data.alertId, (row) => ({ ...row, assigned_to: event.data.assigneeId, updated_at: at(event) })),
    AlertClaimed: (event) =>
      change(event.data.alertId, (row) => ({ ...row, assigned_to: event.data.assigneeId, updated_at: at(event) })),
    AlertSeverityChanged: (event) =>
      change(event.data.alertId, (row) => ({ ...row, severity: event.data.severity, updated_at: at(event) })),
    AlertPolicyActionRecorded: (event) =>
      change(event.data.alertId, (row) => {
        const { action, policyId, policyName } = event.data;
        const recorded = { recordedAt: at(event), recordedBy: event.metadata.actor.id };
        return { ...row, policy_action: { action, policyId, policyName, ...recorded }, updated_at: at(event) };
      }),
    AlertForwarded: (event) =>
      change(event.data.alertId, (row) => ({ ...row, forwarded_at: at(event), updated_at: at(event) })),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});
