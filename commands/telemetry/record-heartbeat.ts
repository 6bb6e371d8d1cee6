import { deviceDay, deviceDayStream, type Heartbeat } from '../../src/contexts/telemetry/domain/device-day.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { dayOf } from '../../src/platform/kernel/read-model.ts';

type RecordHeartbeat = Omit<Heartbeat, 'receivedAt'>;

/** A device that has nothing new to say is heard every few seconds if it likes, and recorded this often. */
const AT_MOST_EVERY_MS = 4 * 60_000;

/** A device that has something else to say each time is heard as rarely from then on: its next sign says it again. */
const MAX_NEWS_A_DAY = 1_000;

/** A sign of life. Signs in quick succession that tell nothing new leave no trace. */
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

const tellsTheSame = (known: Heartbeat, now: RecordHeartbeat): boolean =>
  (Object.keys(now) as (keyof RecordHeartbeat)[]).every((name) => known[name] === now[name]);
