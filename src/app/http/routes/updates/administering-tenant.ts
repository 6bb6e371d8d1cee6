import { listTenants } from '../../../../../queries/tenants/list-tenants.ts';
import type { UpdateSettings } from '../../../../contexts/updates/domain/update-settings.ts';
import { FailureError, forbidden } from '../../../../platform/kernel/failure.ts';
import { INSTALLATION, type TenantId } from '../../../../platform/kernel/ids.ts';
import type { HandlerContext } from '../../route.ts';

type Asking = Pick<HandlerContext<never, never, never>, 'ask'>;

/**
 * Whether the tenant's super admins may update the software, which all tenants share: the tenant that the operator names,
 * or, if none is named, the only tenant. Read from a read model: with a second tenant, nobody may from a moment later on.
 */
export async function administersUpdates(
  { ask }: Asking,
  { tenantId: named }: Pick<UpdateSettings, 'tenantId'>,
  tenantId: TenantId,
): Promise<boolean> {
  if (named !== undefined) return named === tenantId;
  const tenants = await ask(listTenants, { most: 2 }, INSTALLATION);
  return tenants.length === 1 && tenants[0]!.id === tenantId;
}

export async function refuseOtherTenants(
  call: Asking,
  settings: Pick<UpdateSettings, 'tenantId'>,
  tenantId: TenantId,
): Promise<void> {
  if (!(await administersUpdates(call, settings, tenantId)))
    throw new FailureError(forbidden('updates_of_the_operator'));
}
