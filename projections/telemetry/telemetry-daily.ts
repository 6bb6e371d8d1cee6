import { anonymousTelemetryEvents } from '../../src/contexts/telemetry/domain/anonymous-events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import type { Observation } from '../../src/contexts/telemetry/domain/observation.ts';
import { bigint, day, defineReadModel, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = {
  day,
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
export type TelemetryDailyRow = Row<{ columns: typeof columns }>;

/** A tenant's observations by the UTC day on which they occurred, counted on arrival. */
export const telemetryDaily = defineReadModel({
  name: 'telemetry_daily',
  version: 2,
  lane: 'telemetry',
  columns,
  key: ['day'],
  families: [telemetryEvents, anonymousTelemetryEvents],
  on: {
    TelemetryRecorded: ({ data: { observations } }) => counted(observations),
    AnonymousTelemetryRecorded: ({ data: { observations } }) => counted(observations),
  },
});

const counted = (observations: readonly Observation[]) =>
  [...byDay(observations)].map(([on, seen]) => ({
    key: { day: on },
    fold: (row: TelemetryDailyRow | undefined) => sum(row ?? nothing(on), seen),
  }));

const nothing = (on: string): TelemetryDailyRow => ({
  day: on,
  total: 0,
  navigation: 0,
  credential_attempts: 0,
  auth_flow: 0,
  extension: 0,
  warnings: 0,
  blocks: 0,
  new_sites: 0,
});

/** A batch lies within one day, but a rebuild does not rely on it. */
function byDay(observations: readonly Observation[]): Map<string, Observation[]> {
  const days = new Map<string, Observation[]>();
  for (const observation of observations) {
    const on = observation.occurredAt.slice(0, 10);
    const known = days.get(on);
    if (known) known.push(observation);
    else days.set(on, [observation]);
  }
  return days;
}

function sum(row: TelemetryDailyRow, observations: readonly Observation[]): TelemetryDailyRow {
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
