import { anonymousTelemetryEvents } from '../../src/contexts/telemetry/domain/anonymous-events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import type { Observation } from '../../src/contexts/telemetry/domain/observation.ts';
import { bigint, defineReadModel, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';
import { quarterOf } from '../../src/platform/time-zones/zoned-days.ts';

const columns = {
  quarter: timestamp,
  total: bigint,
  navigation: bigint,
  credential_attempts: bigint,
  auth_flow: bigint,
  /** Inventories and changes of extensions. */
  extension: bigint,
  warnings: bigint,
  blocks: bigint,
  new_sites: bigint,
};
export type TelemetryQuarterRow = Row<{ columns: typeof columns }>;

/**
 * A tenant's observations by the quarter of an hour in which they occurred, counted on arrival. Days of every time zone
 * consist of whole quarters.
 */
export const telemetryQuarters = defineReadModel({
  name: 'telemetry_quarters',
  version: 1,
  lane: 'telemetry',
  columns,
  key: ['quarter'],
  families: [telemetryEvents, anonymousTelemetryEvents],
  on: {
    TelemetryRecorded: ({ data: { observations } }) => counted(observations),
    AnonymousTelemetryRecorded: ({ data: { observations } }) => counted(observations),
  },
});

const counted = (observations: readonly Observation[]) =>
  [...byQuarter(observations)].map(([quarter, seen]) => ({
    key: { quarter },
    fold: (row: TelemetryQuarterRow | undefined) => sum(row ?? nothing(quarter), seen),
  }));

const nothing = (quarter: string): TelemetryQuarterRow => ({
  quarter,
  total: 0,
  navigation: 0,
  credential_attempts: 0,
  auth_flow: 0,
  extension: 0,
  warnings: 0,
  blocks: 0,
  new_sites: 0,
});

/** Several read models count the same report; the cache groups it by quarter only once. */
const quartersOf = new WeakMap<readonly Observation[], ReadonlyMap<string, readonly Observation[]>>();

/** Groups observations by the quarter of an hour in which they occurred. */
export function byQuarter(observations: readonly Observation[]): ReadonlyMap<string, readonly Observation[]> {
  let grouped = quartersOf.get(observations);
  if (!grouped) quartersOf.set(observations, (grouped = inQuarters(observations)));
  return grouped;
}

function inQuarters(observations: readonly Observation[]): Map<string, Observation[]> {
  const quarters = new Map<string, Observation[]>();
  for (const observation of observations) {
    const quarter = quarterOfObservation(observation);
    const together = quarters.get(quarter);
    if (together) together.push(observation);
    else quarters.set(quarter, [observation]);
  }
  return quarters;
}

export const quarterOfObservation = ({ occurredAt }: Observation): string => quarterOf(occurredAt);

function sum(row: TelemetryQuarterRow, observations: readonly Observation[]): TelemetryQuarterRow {
  const next = { ...row, total: row.total + observations.length };
  for (const observation of observations) {
    const { kind } = observation;
    if (kind === 'navigation') next.navigation += 1;
    if (kind === 'credential_attempt') next.credential_attempts += 1;
    if (kind === 'auth_flow') next.auth_flow += 1;
    if (kind === 'extension_inventory' || kind === 'extension_event') next.extension += 1;
    if (kind === 'navigation' && observation.isNewSite) next.new_sites += 1;
    if ('action' in observation && observation.action === 'warn') next.warnings += 1;
    if ('action' in observation && observation.action === 'block') next.blocks += 1;
  }
  return next;
}
