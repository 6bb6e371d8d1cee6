import type { TenantId } from '../kernel/ids.ts';
import type { Services } from '../services.ts';

/** The change is made, whatever becomes of this: a secret that stays behind is sealed, and nothing refers to it. */
export async function forgetSecrets({ vault, log }: Pick<Services, 'vault' | 'log'>, tenantId: TenantId, references: readonly string[]): Promise<void> {
  for (const reference of references) {
    await vault.forget(tenantId, reference).catch((error: Error) => log.warn({ tenantId, reference, reason: error.message }, 'a secret stayed behind'));
  }
}
