import { paginated, type Page, type Paginated, type Query } from '../../src/kernel/query.ts';
import type { DeviceStatus } from '../../src/domain/devices/vocabulary.ts';
import { deviceOf, DEVICES_AS_SEEN, type DeviceAsSeen, type DeviceView } from './device-view.ts';

export interface DeviceFilter {
  readonly userId?: string | undefined;
  readonly status?: DeviceStatus | undefined;
}

const FROM = `
    from ${DEVICES_AS_SEEN} d
   where d.tenant_id = $1 and ($2::uuid is null or d.user_id = $2) and ($3::text is null or d.status_now = $3)`;
const COUNT = `select count(*)::int as total ${FROM}`;
const PAGE = `select d.* ${FROM} order by d.created_at desc, d.device_id limit $4 offset $5`;

export const listDevices: Query<DeviceFilter & Page, { devices: DeviceView[] } & Paginated> = async (reads, input) => {
  const filter = [input.userId ?? null, input.status ?? null];
  const [count, rows] = await Promise.all([
    reads.figures<{ total: number }>(COUNT, filter),
    reads.rows<DeviceAsSeen>(PAGE, [...filter, input.pageSize, (input.page - 1) * input.pageSize]),
  ]);
  return { devices: rows.map(deviceOf), ...paginated(count?.total ?? 0, input) };
};
