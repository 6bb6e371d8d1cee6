import { baseUrlField } from '../../contexts/tenants/domain/base-url.ts';
import { tenant, tenantStream } from '../../contexts/tenants/domain/tenant.ts';
import type { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';
import { FailureError, invalid } from '../../platform/kernel/failure.ts';
import { asTenantId, INSTALLATION, type TenantId } from '../../platform/kernel/ids.ts';
import type { TenantReads } from '../../platform/kernel/query.ts';
import type { Config } from '../config/config.ts';

export interface KnownBaseUrlDependencies {
  readonly config: Pick<Config, 'host' | 'port'>;
  readonly loader: AggregateLoader;
  reads(tenantId: TenantId): TenantReads;
}

/** Addresses that mean "every interface" to a listener and nothing to a browser. */
const ANY = ['0.0.0.0', '::', ''];

/**
 * The URL that an operator names, or else that of the first tenant, because one installation mostly has one address, or
 * else where this service listens.
 */
export async function baseUrlOr(
  { reads, loader, config }: KnownBaseUrlDependencies,
  named: string | undefined,
): Promise<string> {
  if (named !== undefined) {
    const { success, data } = baseUrlField.safeParse(named);
    if (!success) throw new FailureError(invalid('base-url', 'must be an http:// or https:// URL without query'));
    return data;
  }
  const first = await reads(INSTALLATION).one<{ id: string }>(
    'select id from tenant_directory where tenant_id = $1 order by slug limit 1',
  );
  if (first) return (await loader.load(tenant, tenantStream(asTenantId(first.id)))).externalBaseUrl;
  return `http://${ANY.includes(config.host) ? '127.0.0.1' : config.host}:${config.port}`;
}
