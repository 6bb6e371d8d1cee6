import { z } from 'zod';
import { isBareOrigin, namesOnly, originOnly } from '../../../platform/kernel/guarded-fields.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { Vault } from '../../../platform/vault/vault.ts';
import type { DestinationConfig } from './config.ts';
import type { LogDestination } from './events.ts';
import { logDestinationAddress } from './log-destination.ts';

const hidden = z.object({ url: z.string(), headers: z.record(z.string(), z.string()).default({}) });

/**
 * The part of a configuration that often is a credential: what follows the origin of its address (`url`, of S3
 * `endpoint`), and values of a webhook's headers. Gateways in front of a collector take tokens in the path, too.
 */
export type HiddenConfig = z.output<typeof hidden>;

/** The field with a web address. Undefined for syslog, which has none. */
export const webAddressField = ({ type }: Pick<DestinationConfig, 'type'>): 'url' | 'endpoint' | undefined =>
  type === 'syslog' ? undefined : type === 's3' ? 'endpoint' : 'url';

const webAddressOf = (config: DestinationConfig): string | undefined => {
  const field = webAddressField(config);
  return field && ((config as Readonly<Record<string, unknown>>)[field] as string);
};

const withAddress = (config: DestinationConfig, url: string, headers: HiddenConfig['headers']): DestinationConfig =>
  ({
    ...config,
    [webAddressField(config) ?? 'url']: url,
    ...(config.type === 'webhook' ? { headers } : {}),
  }) as DestinationConfig;

const headersOf = (config: DestinationConfig) => (config.type === 'webhook' ? config.headers : {});

/** Undefined if there is nothing to hide. */
export function hiddenConfig(config: DestinationConfig): HiddenConfig | undefined {
  const url = webAddressOf(config);
  const headers = headersOf(config);
  return url === undefined || (isBareOrigin(url) && Object.keys(headers).length === 0) ? undefined : { url, headers };
}

/** The configuration for events: the origin, and the names of headers. */
export function openConfig(config: DestinationConfig): DestinationConfig {
  const part = hiddenConfig(config);
  return part
    ? withAddress(config, originOnly(part.url) as string, namesOnly(part.headers) as HiddenConfig['headers'])
    : config;
}

export const wholeConfig = (config: DestinationConfig, part: HiddenConfig | undefined): DestinationConfig =>
  part === undefined ? config : withAddress(config, part.url, part.headers);

/** Stores the hidden part. Returns its reference, for events; null if there is nothing to hide. */
export async function storeHidden(
  part: HiddenConfig | undefined,
  destinationId: string,
  vault: Pick<Vault, 'put'>,
  tenantId: TenantId,
): Promise<string | null> {
  return part === undefined ? null : vault.put(tenantId, logDestinationAddress(destinationId), JSON.stringify(part));
}

/** Undefined if the event holds all of it, or if the entry of the vault is gone. */
export async function readHidden(
  { destinationId, addressRef }: Pick<LogDestination, 'destinationId' | 'addressRef'>,
  vault: Pick<Vault, 'get'>,
  tenantId: TenantId,
): Promise<HiddenConfig | undefined> {
  if (addressRef === null) return undefined;
  const stored = await vault.get(tenantId, logDestinationAddress(destinationId), addressRef);
  return stored && hidden.parse(JSON.parse(stored.toString()));
}
