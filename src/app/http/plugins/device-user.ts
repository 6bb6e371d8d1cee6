import type { DeviceState } from '../../../contexts/devices/domain/device.ts';
import { hasLeft } from '../../../contexts/employees/domain/employee.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { Lookups } from '../../../contexts/identity/lookups.ts';

export interface DeviceUserDependencies {
  readonly lookups: Lookups;
}

/**
 * Whether the device may connect given the state of its user. Devices of inactive or deleted users may not.
 * `evenToBeWiped`: allows them while a wipe is pending, so that they can learn of it.
 */
export async function isAllowedByUser(
  { lookups }: DeviceUserDependencies,
  tenantId: TenantId,
  { userId, status }: DeviceState,
  evenToBeWiped: boolean,
): Promise<boolean> {
  const user = await lookups.employee(tenantId, userId);
  return user === undefined || !hasLeft(user) || (evenToBeWiped && status === 'wipe_pending');
}
