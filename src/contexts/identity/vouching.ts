import { orgVouchings } from '../organizations/domain/vouching.ts';
import { organizationStream } from '../organizations/domain/organization.ts';
import { ssoConfigsStream } from '../sso/domain/sso-configs.ts';
import { ssoVouchings, stillVouches, type VouchedBy, type Vouchings } from '../sso/domain/vouching.ts';
import type { AggregateReader } from '../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';

/** The owner of the configurations. */
export type SsoConfigOwner = 'tenant' | 'organization';

const vouchingsOf = (aggregates: AggregateReader, kind: SsoConfigOwner, id: TenantId): Promise<Vouchings> =>
  kind === 'tenant'
    ? aggregates.load(ssoVouchings, ssoConfigsStream(id))
    : aggregates.load(orgVouchings, organizationStream(id));

/** For a session that begins now. */
export async function vouchedByNow(
  aggregates: AggregateReader,
  kind: SsoConfigOwner,
  id: TenantId,
  configId: string,
): Promise<VouchedBy> {
  return { configId, epoch: (await vouchingsOf(aggregates, kind, id)).get(configId)?.epoch ?? -1 };
}

/** True if a session may continue. A session without a configuration depends on none. */
export const isStillVouchedFor = async (
  aggregates: AggregateReader,
  kind: SsoConfigOwner,
  id: TenantId,
  by: VouchedBy | null,
): Promise<boolean> => by === null || stillVouches(await vouchingsOf(aggregates, kind, id), by);
