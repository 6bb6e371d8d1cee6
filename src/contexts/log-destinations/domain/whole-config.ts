import { z } from 'zod';
import { isBareOrigin, namesOnly, originOnly } from '../../../platform/kernel/guarded-fields.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { Vault } from '../../../platform/vault/vault.ts';
import type { DestinationConfig } from './config.ts';
import type { LogDestination } from './events.ts';
import { logDestinationAddress } from './log-destination.ts';

const hidden = z.object({ url: z.string(), headers: z.record(z.string(), z.string()) });

/** The part of a webhook's configuration that often is a credential: what follows the origin, and values of headers. */
export type HiddenConfig = z.output<typeof hidden>;

/** Undefined if there is nothing to hide. Addresses of the other types are bases: their credential is in the vault. */
export const hiddenConfig = (config: DestinationConfig): HiddenConfig | undefined =>
  config.type === 'webhook' && !(isBareOrigin(config.url) && Object.keys(config.headers).length === 0)
    ? { url: config.url, headers: config.headers }
    : undefined;

/** The configuration for events: the origin, and the names of headers. */
export const openConfig = (config: DestinationConfig): DestinationConfig =>
  config.type === 'webhook' && hiddenConfig(config)
    ? {
        ...config,
        url: originOnly(config.url) as string,
        headers: namesOnly(config.headers) as Readonly<Record<string, string>>,
      }
    : config;

export const wholeConfig = (config: DestinationConfig, part: HiddenConfig | undefined): DestinationConfig =>
  config.type === 'webhook' ? { ...config, ...part } : config;

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
