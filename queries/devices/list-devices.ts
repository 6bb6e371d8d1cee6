import { paginated, type Page, type Paginated, type Query } from '../../src/platform/kernel/query.ts';
import type { DeviceStatus } from '../../src/contexts/devices/domain/vocabulary.ts';
import { toDeviceView, SELECT_DEVICES, type DeviceWithDetails, type DeviceView } from './device-view.ts';

export interface DeviceFilter {
  readonly userId?: string | undefined;
  readonly status?: DeviceStatus | undefined;
  readonly isConfirmed?: boolean | undefined;
}

const FROM = `
    from ${SELECT_DEVICES} d
   where d.tenant_id = $1 and ($2::uuid is null or d.user_id = $2) and ($3::text is null or d.status_now = $3)
     and ($4::boolean is null or d.enrollment_confirmed = $4)`;
const COUNT = `select count(*)::int as total ${FROM}`;
const PAGE = `select d.* ${FROM} order by d.created_at desc, d.device_id limit $5 offset $6`;

export const listDevices: Query<DeviceFilter & Page, { devices: DeviceView[] } & Paginated> = async (reads, input) => {
  const filter = [input.userId ?? null, input.status ?? null, input.isConfirmed ?? null];
  const [count, rows] = await Promise.all([
    reads.figures<{ total: number }>(COUNT, filter),
    reads.rows<DeviceWithDetails>(PAGE, [...filter, input.pageSize, (input.page - 1) * input.pageSize]),
  ]);
  return { devices: rows.map(toDeviceView), ...paginated(count?.total ?? 0, input) };
};
