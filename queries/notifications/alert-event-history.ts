import { severities } from '../../src/contexts/alerts/domain/vocabulary.ts';
import type { NotificationValues } from '../../src/contexts/notifications/domain/settings.ts';
import type { replayedTypes } from '../../src/contexts/notifications/domain/webhook-replay.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** The words in the audit log of the events that a webhook tells. */
const ACTIONS = {
  'alert.created': ['alert.raised'],
  'alert.updated': [
    'alert.acknowledged',
    'alert.resolved',
    'alert.reopened',
    'alert.assigned',
    'alert.claimed',
    'alert.severity_changed',
  ],
} as const satisfies Record<(typeof replayedTypes)[number], readonly string[]>;

export interface AlertEventRange {
  /** Inclusive. */
  readonly from: string;
  readonly to: string;
  readonly types: readonly (typeof replayedTypes)[number][];
}

const EVENTS = `
  from audit_log
 where tenant_id = $1 and resource_type = 'alert' and action = any($2::text[])
   and recorded_at >= $3::timestamptz and recorded_at <= $4::timestamptz`;
/** Severities are those after each event, as its message has them. Alerts of erased people are in no table. */
const COUNT = `
  with entries as (select position, resource_id ${EVENTS}),
  severities as (
    select resource_id, position as since, details::jsonb ->> 'severity' as severity,
           lead(position) over (partition by resource_id order by position) as until
      from audit_log
     where tenant_id = $1 and resource_type = 'alert' and action in ('alert.raised', 'alert.severity_changed')
       and recorded_at <= $4::timestamptz)
  select count(*)::int as total
    from entries
    join alerts on alerts.tenant_id = $1 and alerts.alert_id::text = entries.resource_id
    join severities using (resource_id)
   where severities.since <= entries.position and (severities.until is null or entries.position < severities.until)
     and severities.severity = any($5::text[])
     and (cardinality($6::text[]) = 0 or alerts.alert_type = any($6::text[]))`;
const PAGE = `
  select position::text, event_id, resource_id as alert_id, action, recorded_at ${EVENTS}
     and position > $5::bigint order by audit_log.position limit $6`;

const parametersOf = ({ from, to, types }: AlertEventRange) => [types.flatMap((type) => ACTIONS[type]), from, to];

/** What the settings want to be told of (`isWanted`). */
export type WantedAlerts = Pick<NotificationValues, 'minSeverity' | 'alertTypes'>;

/** How many messages a replay would send: events of alerts that the settings want. */
export const countAlertEvents: Query<AlertEventRange & WantedAlerts, number> = async (
  reads,
  { minSeverity, alertTypes, ...range },
) => {
  const wanted = severities.slice(0, severities.indexOf(minSeverity) + 1);
  const parameters = [...parametersOf(range), wanted, alertTypes];
  return (await reads.figures<{ total: number }>(COUNT, parameters))?.total ?? 0;
};

interface AlertEventRow {
  readonly position: string;
  readonly event_id: string;
  readonly alert_id: string;
  readonly action: string;
  readonly recorded_at: string;
}

export interface PastAlertEvent {
  /** A mark for the next page. */
  readonly position: string;
  readonly eventId: string;
  readonly alertId: string;
  readonly change: 'created' | 'updated';
  readonly occurredAt: string;
}

/** The next events of alerts in the order of the log. */
export const pageOfAlertEvents: Query<
  AlertEventRange & { readonly after: string; readonly size: number },
  readonly PastAlertEvent[]
> = async (reads, { after, size, ...range }) => {
  const rows = await reads.rows<AlertEventRow>(PAGE, [...parametersOf(range), after, size]);
  return rows.map(({ position, event_id, alert_id, action, recorded_at }) => ({
    position,
    eventId: event_id,
    alertId: alert_id,
    change: action === 'alert.raised' ? 'created' : 'updated',
    occurredAt: new Date(recorded_at).toISOString(),
  }));
};
