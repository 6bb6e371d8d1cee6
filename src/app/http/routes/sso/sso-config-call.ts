import { z } from 'zod';
import { getTenant } from '../../../../../queries/tenants/get-tenant.ts';
import { getSsoConfig, viewOfNewSsoConfig } from '../../../../../queries/sso/get-sso-config.ts';
import type { SsoConfigView } from '../../../../../queries/sso/sso-config-view.ts';
import { asTenantId, uuid, type TenantId } from '../../../../platform/kernel/ids.ts';
import type { Access } from '../../access.ts';
import type { Principal } from '../../principal.ts';
import type { HandlerContext } from '../../route.ts';
import type { Config } from '../../../config/config.ts';
import type { Logger } from 'pino';
import type { Vault } from '../../../../platform/vault/vault.ts';

export interface SsoConfigsRouteDependencies {
  readonly config: Pick<Config, 'devMode' | 'outboundNetworks'>;
  readonly log: Logger;
  readonly vault: Vault;
}

/** The same routes exist for the tenant itself and for its organization. This is how they differ. */
export interface SsoConfigRouteVariant {
  readonly base: string;
  /** Name of the path parameter, as in the interface. */
  readonly parameter: string;
  readonly tenantParameter: Readonly<Record<string, ReturnType<typeof uuid>>>;
  readonly read: Access;
  readonly probe: Access;
  readonly write: Access;
}

type Ids = Readonly<Record<string, string>>;
export interface SsoConfigCall {
  readonly params?: Ids | undefined;
  readonly principal: Principal | undefined;
}

/** Authentication has checked that a tenant in the path belongs to the caller's organization. */
export const tenantOf = ({ params, principal }: SsoConfigCall): TenantId =>
  params?.['tenantId'] ? asTenantId(params['tenantId']) : principal!.tenantId;

type Call = Pick<HandlerContext<unknown, unknown, unknown>, 'created' | 'ask'>;

/** Complete before the tables have the configuration. */
export const createdConfig = (
  { created, ask }: Call,
  executed: Parameters<Call['created']>[0],
  configId: string,
  tenantId: TenantId,
): Promise<SsoConfigView> =>
  created(
    executed,
    getSsoConfig,
    { configId },
    async (events) => {
      const tenant = await ask(getTenant, undefined, tenantId);
      return viewOfNewSsoConfig({ ...tenant, tenant_id: tenantId }, configId, events);
    },
    tenantId,
  );

/** The path and parameters of one configuration. */
export const oneConfig = ({ base, parameter, tenantParameter }: SsoConfigRouteVariant) => ({
  path: `${base}/{${parameter}}`,
  params: z.object(tenantParameter).extend({ [parameter]: uuid() }),
});

export const configNamedBy = ({ parameter }: SsoConfigRouteVariant, call: SsoConfigCall) => ({
  tenantId: tenantOf(call),
  configId: call.params![parameter]!,
});
