import { deviceDay, deviceDayStream } from '../../src/contexts/telemetry/domain/device-day.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { dayOf } from '../../src/platform/kernel/read-model.ts';

interface RecordRefusal {
  readonly deviceId: string;
  readonly userId: string;
  readonly deviceSequence: number | null;
  readonly extensionMode: string | null;
  readonly policyVersion: string | null;
  /** What the refused fields sounded like, without repetition: never what they were called, let alone what they held. */
  readonly secretWords: readonly string[];
}

/** A batch from which something, or everything, was not taken. What was told of a device today is not told again. */
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
