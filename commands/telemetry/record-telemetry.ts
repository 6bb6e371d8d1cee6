import { deviceDay, deviceDayStream } from '../../src/contexts/telemetry/domain/device-day.ts';
import type { Observation } from '../../src/contexts/telemetry/domain/observation.ts';
import { hasId } from '../../src/contexts/telemetry/domain/seen-ids.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';

interface RecordTelemetry {
  readonly deviceId: string;
  readonly userId: string;
  /** The UTC day of all observations. */
  readonly day: string;
  readonly deviceSequence: number | null;
  readonly extensionMode: string | null;
  readonly policyVersion: string | null;
  /** Admitted and without duplicates. */
  readonly observations: readonly Observation[];
}

export interface RecordedTelemetry {
  readonly accepted: number;
  readonly duplicates: number;
  /** Ids beyond the limit of the day. */
  readonly refused: readonly string[];
}

/** A browser that reports more is broken or hostile; it would fill memory and tables for all tenants. */
const MAX_A_DAY = 100_000;

/**
 * Records the observations of one device on one day. Each observation counts once, however often and in whatever batch
 * it is sent.
 */
export const recordTelemetry = defineCommand({
  name: 'RecordTelemetry',
  aggregate: deviceDay,
  stream: ({ deviceId, day }: RecordTelemetry, { tenantId }) => deviceDayStream(tenantId, deviceId, day),
  decide({ seen }, { deviceId, userId, deviceSequence, extensionMode, policyVersion, observations }) {
    const fresh = observations.filter(({ eventId }) => !hasId(seen, eventId));
    const room = Math.max(0, MAX_A_DAY - seen.size);
    const accepted = fresh.slice(0, room);
    const result: RecordedTelemetry = {
      accepted: accepted.length,
      duplicates: observations.length - fresh.length,
      refused: fresh.slice(room).map(({ eventId }) => eventId),
    };
    if (accepted.length === 0) return acceptWith(result, []);
    return acceptWith(result, [
      {
        type: 'TelemetryRecorded',
        data: { deviceId, userId, deviceSequence, extensionMode, policyVersion, observations: accepted },
      },
    ]);
  },
});
