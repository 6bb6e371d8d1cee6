import type { DeviceState } from '../../domain/devices/device.ts';
import { hasLeft } from '../../domain/employees/employee.ts';
import type { TenantId } from '../../kernel/ids.ts';
import type { Lookups } from '../../identity/lookups.ts';

export interface DeviceUserDependencies {
  readonly lookups: Lookups;
}

/**
 * Whether the device's user still lets it in: an inactive or deleted person has no device that may speak for them.
 * `evenToBeWiped`: it is asked on a route by which a device learns that it has to wipe itself.
 */
export async function isLetInByUser(
  { lookups }: DeviceUserDependencies,
  tenantId: TenantId,
  { userId, status }: DeviceState,
  evenToBeWiped: boolean,
): Promise<boolean> {
  const user = await lookups.employee(tenantId, userId);
  return user === undefined || !hasLeft(user) || (evenToBeWiped && status === 'wipe_pending');
}
