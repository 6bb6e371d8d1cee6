import type { DeviceState } from '../../../contexts/devices/domain/device.ts';
import { hasLeft } from '../../../contexts/employees/domain/employee.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { Lookups } from '../../../contexts/identity/lookups.ts';

export interface DeviceUserDependencies {
  readonly lookups: Lookups;
}

/**
 * Whether the device's user still lets it in: an inactive or deleted person has no device that may speak for them.
 * `evenToBeWiped`: it is asked on a route by which a device learns that it has to wipe itself.
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
