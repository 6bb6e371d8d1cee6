import type { KeysetPaginated, Page, Query } from '../../src/platform/kernel/query.ts';
import { ascending, descending, listPage, type KeysetOrder } from '../keyset.ts';
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

export const deviceOrder: KeysetOrder<DeviceWithDetails> = {
  list: 'devices',
  columns: [descending('d.created_at', 'timestamptz'), ascending('d.device_id', 'uuid')],
  valuesOf: ({ created_at, device_id }) => [created_at, device_id],
};

export const listDevices: Query<DeviceFilter & Page, { devices: DeviceView[] } & KeysetPaginated> = async (
  reads,
  input,
) => {
  const { rows, ...pages } = await listPage(
    reads,
    { order: deviceOrder, count: COUNT, page: ({ where, tail }) => `select d.* ${FROM} ${where} ${tail}` },
    [input.userId ?? null, input.status ?? null, input.isConfirmed ?? null],
    input,
  );
  return { devices: rows.map(toDeviceView), ...pages };
};
