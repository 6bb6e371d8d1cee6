import { deviceDay, deviceDayStream } from '../../src/contexts/telemetry/domain/device-day.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { dayOf } from '../../src/platform/kernel/read-model.ts';

interface RecordRefusal {
  readonly deviceId: string;
  readonly userId: string;
  readonly deviceSequence: number | null;
  readonly extensionMode: string | null;
  readonly policyVersion: string | null;
  /** The words by which refused fields were recognized, without duplicates: neither field names nor values. */
  readonly secretWords: readonly string[];
}

/**
 * Records that a batch was refused in whole or in part. Words already recorded for the device today are not repeated.
 */
export const recordRefusal = defineCommand({
  name: 'RecordRefusal',
  aggregate: deviceDay,
  stream: ({ deviceId }: RecordRefusal, { tenantId, now }) => deviceDayStream(tenantId, deviceId, dayOf(now)),
  decide(state, input, { now }) {
    const secretWords = input.secretWords.filter((word) => !state.secretWords.includes(word));
    const isCounted = input.deviceSequence === null || state.sequences.includes(input.deviceSequence);
    if (secretWords.length === 0 && isCounted) return accept([]);
    return accept([
      { type: 'TelemetryRefused', data: { ...input, secretWords, occurredAt: new Date(now).toISOString() } },
    ]);
  },
});
