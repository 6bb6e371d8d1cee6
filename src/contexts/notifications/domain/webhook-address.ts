import { isBareOrigin, originOnly } from '../../../platform/kernel/guarded-fields.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { Vault } from '../../../platform/vault/vault.ts';
import { webhookUrlLocation, type NotificationSettings } from './settings.ts';

type WithAddress = Pick<NotificationSettings, 'webhookUrlRef'> & {
  readonly values: Pick<NotificationSettings['values'], 'webhookUrl'>;
};

/** The whole address; null if there is none, or its entry in the vault is gone. */
export async function webhookAddressOf(
  { values, webhookUrlRef }: WithAddress,
  vault: Pick<Vault, 'get'>,
  tenantId: TenantId,
): Promise<string | null> {
  if (webhookUrlRef === null) return values.webhookUrl;
  const stored = await vault.get(tenantId, webhookUrlLocation, webhookUrlRef);
  return stored?.toString() ?? null;
}

/** The fields of an event for this address: what follows the origin goes to the vault, because it often is a credential. */
export async function storedWebhookAddress(
  address: string | null,
  vault: Pick<Vault, 'put'>,
  tenantId: TenantId,
): Promise<{ readonly webhookUrl: string | null; readonly webhookUrlRef: string | null }> {
  if (address === null || isBareOrigin(address)) return { webhookUrl: address, webhookUrlRef: null };
  return {
    webhookUrl: originOnly(address) as string,
    webhookUrlRef: await vault.put(tenantId, webhookUrlLocation, address),
  };
}
