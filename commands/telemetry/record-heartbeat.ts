import { isDeepStrictEqual } from 'node:util';
import { deviceDay, deviceDayStream, type Heartbeat } from '../../src/contexts/telemetry/domain/device-day.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { dayOf } from '../../src/platform/kernel/read-model.ts';

type RecordHeartbeat = Omit<Heartbeat, 'receivedAt'>;

/** Unchanged heartbeats are recorded at most this often. */
const AT_MOST_EVERY_MS = 4 * 60_000;

/**
 * After this many records a day, changes are recorded as rarely as unchanged heartbeats. The next heartbeat repeats
 * them.
 */
const MAX_NEWS_A_DAY = 1_000;

/** Records a heartbeat. Unchanged heartbeats in quick succession are not recorded. */
export const recordHeartbeat = defineCommand({
  name: 'RecordHeartbeat',
  aggregate: deviceDay,
  stream: ({ deviceId }: RecordHeartbeat, { tenantId, now }) => deviceDayStream(tenantId, deviceId, dayOf(now)),
  decide({ heartbeat, heartbeatAt, heartbeats }, input, { now }) {
    const isSoon = heartbeat && now - heartbeatAt < AT_MOST_EVERY_MS;
    if (isSoon && (heartbeats >= MAX_NEWS_A_DAY || tellsTheSame(heartbeat, input))) return accept([]);
    return accept([{ type: 'DeviceHeartbeatRecorded', data: { ...input, receivedAt: new Date(now).toISOString() } }]);
  },
  freshens: ['devices'],
});

/** Errors are news each time: the next heartbeat does not repeat them. */
const tellsTheSame = (known: Heartbeat, now: RecordHeartbeat): boolean =>
  now.errors === 0 && isDeepStrictEqual({ ...known, errors: 0 }, { ...now, receivedAt: known.receivedAt });
