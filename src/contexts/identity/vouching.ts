import { orgVouchings } from '../organizations/domain/vouching.ts';
import { organizationStream } from '../organizations/domain/organization.ts';
import { ssoConfigsStream } from '../sso/domain/sso-configs.ts';
import {
  ssoVouchings,
  stillCarries,
  stillVouches,
  type SignInBasis,
  type VouchedBy,
  type Vouchings,
} from '../sso/domain/vouching.ts';
import type { AggregateReader } from '../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';

/** The owner of the configurations. */
export type SsoConfigOwner = 'tenant' | 'organization';

const vouchingsOf = (aggregates: AggregateReader, kind: SsoConfigOwner, id: TenantId): Promise<Vouchings> =>
  kind === 'tenant'
    ? aggregates.load(ssoVouchings, ssoConfigsStream(id))
    : aggregates.load(orgVouchings, organizationStream(id));

/** For a sign-in that is under way. */
export async function basisNow(
  aggregates: AggregateReader,
  kind: SsoConfigOwner,
  id: TenantId,
  configId: string,
): Promise<SignInBasis & { readonly version: number }> {
  const { epoch = -1, version = -1 } = (await vouchingsOf(aggregates, kind, id)).get(configId) ?? {};
  return { vouchedBy: { configId, epoch }, version };
}

/** True if a sign-in may go on. */
export const isStillCarried = async (
  aggregates: AggregateReader,
  kind: SsoConfigOwner,
  id: TenantId,
  basis: SignInBasis,
): Promise<boolean> => stillCarries(await vouchingsOf(aggregates, kind, id), basis);

/** True if a session may continue. A session without a configuration depends on none. */
export const isStillVouchedFor = async (
  aggregates: AggregateReader,
  kind: SsoConfigOwner,
  id: TenantId,
  by: VouchedBy | null,
): Promise<boolean> => by === null || stillVouches(await vouchingsOf(aggregates, kind, id), by);
