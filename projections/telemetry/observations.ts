import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import type { Observation } from '../../src/contexts/telemetry/domain/observation.ts';
import { ERASED } from '../../src/platform/kernel/event.ts';
import {
  at,
  day,
  defineReadModel,
  id,
  json,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

/** The kinds that the event viewer lists (interface, "Event viewer"). Changes of extensions have their own tables. */
export const viewedKinds = ['navigation', 'credential_attempt', 'auth_flow'] as const;
export type ViewedKind = (typeof viewedKinds)[number];
type Viewed = Extract<Observation, { kind: ViewedKind }>;

const columns = {
  event_id: id,
  /** The UTC day on which it occurred. */
  day,
  kind: text as Column<ViewedKind>,
  user_id: id,
  device_id: id,
  domain: nullable(text),
  url: nullable(text),
  occurred_at: timestamp,
  received_at: timestamp,
  data: json<Readonly<Record<string, unknown>>>(),
};
export type ObservationRow = Row<{ columns: typeof columns }>;

/**
 * Observations of browsers, one row each, until retention removes them (choice OP-122). Never contains password
 * digests.
 */
export const observations = defineReadModel({
  name: 'observations',
  version: 3,
  lane: 'telemetry',
  columns,
  key: ['event_id', 'device_id', 'day'],
  indexes: [
    ['kind', 'occurred_at desc', 'event_id'],
    ['user_id', 'kind', 'occurred_at desc'],
    ['device_id', 'kind', 'occurred_at desc'],
    ['domain', 'kind', 'occurred_at desc'],
  ],
  families: [telemetryEvents, employeeEvents],
  on: {
    TelemetryRecorded: (event) =>
      event.data.observations.filter(isViewed).map((observation) => ({
        // An id counts once per device and day (OP-153): the log holds no second observation with these three.
        key: { event_id: observation.eventId, device_id: event.data.deviceId, day: dayOfObservation(observation) },
        fold: (row: ObservationRow | undefined) => row ?? rowOf(observation, event.data, at(event)),
      })),
    EmployeeDeleted: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});

/** The day of the stream that its device's reports of that day are in. */
export const dayOfObservation = ({ occurredAt }: Observation): string => occurredAt.slice(0, 10);

const isViewed = (observation: Observation): observation is Viewed =>
  (viewedKinds as readonly string[]).includes(observation.kind);

const rowOf = (
  observation: Viewed,
  { userId, deviceId }: { userId: string; deviceId: string },
  receivedAt: string,
): ObservationRow => ({
  event_id: observation.eventId,
  day: dayOfObservation(observation),
  kind: observation.kind,
  user_id: userId,
  device_id: deviceId,
  domain: observation.domain,
  url: known(observation.url),
  occurred_at: observation.occurredAt,
  received_at: receivedAt,
  data: dataOf(observation),
});

const known = (value: string | null): string | null => (value === ERASED ? null : value);

function dataOf(observation: Viewed): ObservationRow['data'] {
  switch (observation.kind) {
    case 'navigation': {
      const { title, referrerDomain, technologies, isNewSite } = observation;
      return { title: known(title), referrerDomain, technologies, isNewSite };
    }
    case 'credential_attempt': {
      const { username, isBreached, action, userDecision, policyId } = observation;
      return { username: known(username), isBreached, action, userDecision, policyId };
    }
    case 'auth_flow': {
      const { provider, method, relyingParty, mfaObserved, outcome } = observation;
      return { provider, method, relyingParty, mfaObserved, outcome };
    }
  }
}
