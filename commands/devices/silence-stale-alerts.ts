import { device, deviceStream } from '../../src/contexts/devices/domain/device.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface SilenceStaleAlerts {
  readonly deviceId: string;
  readonly silenced: boolean;
  /** Duration in days; null: until it is ended manually. */
  readonly days: number | null;
}

const DAY_MS = 86_400_000;

/** Turns alerts about the device's silence off (choice OP-102), or on again. */
export const silenceStaleAlerts = defineCommand({
  name: 'SilenceStaleAlerts',
  aggregate: device,
  stream: ({ deviceId }: SilenceStaleAlerts, { tenantId }) => deviceStream(tenantId, deviceId),
  decide({ status }, { deviceId, silenced, days }, { now }) {
    if (status === 'none' || status === 'deleted') return notFound();
    const until = silenced && days !== null ? new Date(now + days * DAY_MS).toISOString() : null;
    return accept([{ type: 'DeviceStaleAlertsSilenced', data: { deviceId, silenced, until } }]);
  },
  freshens: ['devices'],
});
