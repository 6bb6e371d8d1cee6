import { streamSubject } from '../../platform/kernel/aggregate.ts';
import { ERASED, type RecordedEvent } from '../../platform/kernel/event.ts';
import { withoutGuarded } from '../../platform/kernel/guarded-fields.ts';
import type { Observation } from '../telemetry/domain/observation.ts';
import type { RecordSeverity, RecordType } from './domain/vocabulary.ts';
import type { LogRecord } from './formats/log-record.ts';
import { eventSources, observationRecords, type EventSource } from './record-table.ts';

/** References into the vault, and digests of secrets, stay inside. */
const KEPT_INSIDE = /(?:Ref|Refs|Hash|Hashes|Digest|Digests)$/;

type Data = Readonly<Record<string, unknown>>;

/** The records of an event for a destination with these types, in order. Throws if the event cannot be read. */
export function recordsOf(event: RecordedEvent, wanted: ReadonlySet<RecordType>): LogRecord[] {
  const source = eventSources.get(event.type);
  if (!source) return [];
  if (source.isBatch) return observed(event, wanted);
  return source.becomes.filter((type) => wanted.has(type)).map((type) => recorded(event, source, type));
}

function recorded(event: RecordedEvent, { terms, concealed, guarded }: EventSource, type: RecordType): LogRecord {
  const { action, resourceType, idField } = terms!;
  const data = withoutGuarded(guarded, event.data as Data);
  const details = leaving(data, concealed);
  const { actor, correlationId } = event.metadata;
  const named = idField === undefined ? undefined : data[idField];
  return {
    timestamp: new Date(event.recordedAt).toISOString(),
    tenantId: event.tenantId,
    type,
    id: event.id,
    severity: severityOf(event.type, data),
    data:
      type === 'audit'
        ? {
            action,
            actorType: actor.kind,
            actorId: actor.id,
            resourceType,
            resourceId: typeof named === 'string' ? named : streamSubject(event.stream),
            ipAddress: actor.ip ?? null,
            userAgent: actor.userAgent ?? null,
            correlationId,
            details,
          }
        : { action, ...details },
  };
}

const ALERT_SEVERITIES: ReadonlySet<unknown> = new Set(['low', 'medium', 'high', 'critical']);

/** Alerts say it themselves. Other events are not judged. */
function severityOf(type: string, data: Data): RecordSeverity {
  if (ALERT_SEVERITIES.has(data['severity'])) return data['severity'] as RecordSeverity;
  return type === 'VerificationAlertRaised' ? 'medium' : 'info';
}

function observed(event: RecordedEvent, wanted: ReadonlySet<RecordType>): LogRecord[] {
  const { observations, deviceId, userId } = event.data as {
    readonly observations: readonly Observation[];
    readonly deviceId: string;
    readonly userId: string;
  };
  const records: LogRecord[] = [];
  for (const observation of observations) {
    const type = observationRecords[observation.kind];
    if (type === null || !wanted.has(type)) continue;
    const { eventId, occurredAt, kind, ...rest } = observation;
    records.push({
      timestamp: occurredAt,
      tenantId: event.tenantId,
      type,
      id: eventId,
      severity: observation.kind === 'credential_attempt' && observation.isBreached ? 'high' : 'info',
      data: { action: kind, deviceId, userId, ...leaving(rest, []) },
    });
  }
  return records;
}

/** A copy without concealed fields, values of erased people, references and digests. */
function leaving(data: Data, concealed: readonly string[]): Data {
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(data)) {
    const value = data[name];
    if (value === ERASED || concealed.includes(name) || KEPT_INSIDE.test(name)) continue;
    copy[name] = leavingValue(value);
  }
  return copy;
}

function leavingValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.filter((item) => item !== ERASED).map(leavingValue);
  return leaving(value as Data, []);
}
