import { z } from 'zod';
import { alerts, type AlertRow } from '../../../projections/alerts/alerts.ts';
import type { EventCodec } from '../../platform/eventstore/codec.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { RecordedEvent } from '../../platform/kernel/event.ts';
import { newRow } from '../../platform/kernel/new-row.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { alertStream } from '../alerts/domain/alert.ts';
import { alertStatuses, alertTypeSchema, severitySchema } from '../alerts/domain/vocabulary.ts';

/** An alert in a message: its fields one by one. It names people only by id. */
export const alertDocument = z
  .object({
    id: z.uuid(),
    alertType: alertTypeSchema,
    severity: severitySchema,
    status: z.enum(alertStatuses),
    title: z.string(),
    description: z.string(),
    domain: z.string().nullable(),
    userId: z.uuid().nullable(),
    deviceId: z.uuid().nullable(),
    assignedTo: z.uuid().nullable(),
    occurrenceCount: z.int(),
    metadata: z.record(z.string(), z.unknown()),
    acknowledgedAt: z.iso.datetime().nullable(),
    resolution: z.string().nullable(),
    resolvedAt: z.iso.datetime().nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ title: 'NotifiedAlert' });
export type AlertDocument = z.output<typeof alertDocument>;

const documentOf = (row: AlertRow): AlertDocument => ({
  id: row.alert_id,
  alertType: row.alert_type,
  severity: row.severity,
  status: row.status,
  title: row.title,
  description: row.description,
  domain: row.domain,
  userId: row.user_id,
  deviceId: row.device_id,
  assignedTo: row.assigned_to,
  occurrenceCount: row.occurrence_count,
  metadata: row.metadata,
  acknowledgedAt: row.acknowledged_at,
  resolution: row.resolution,
  resolvedAt: row.resolved_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

export interface AlertHistory {
  readonly store: Pick<EventStore, 'readStream'>;
  readonly codec: EventCodec;
}

/**
 * The alert as it was after this event, from its own stream: the same at every attempt and in a replay, and independent
 * of read models. Undefined if there is no such event, or if the person whom the alert is about was erased.
 */
export async function alertAfter(
  { store, codec }: AlertHistory,
  tenantId: TenantId,
  { alertId, eventId }: { readonly alertId: string; readonly eventId: string },
): Promise<AlertDocument | undefined> {
  const stored = await store.readStream(alertStream(tenantId, alertId));
  const last = stored.findIndex(({ id }) => id === eventId);
  if (last < 0) return undefined;
  const events = (await codec.decode(stored.slice(0, last + 1))).filter((event) => event !== undefined);
  const row = newRow(alerts, { alert_id: alertId }, events as unknown as readonly RecordedEvent[]);
  return row && documentOf(row);
}
