import type { FreshValues } from '../../platform/execution/fresh-values.ts';
import { conflict, FailureError, invalid } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { deleteSecretsIfRefused } from '../../platform/resources/secrets.ts';
import type { AccountKind, AccountKindsDependencies } from './account-kinds.ts';
import { newBackupCodes } from './backup-codes.ts';
import { stepOfCode } from './totp.ts';
import type { Logger } from 'pino';
import type { Vault } from '../../platform/vault/vault.ts';
import type { Passwords } from './passwords.ts';

export interface MfaSetupDependencies extends AccountKindsDependencies {
  readonly log: Logger;
  readonly vault: Vault;
  readonly passwords: Passwords;
}

interface Self {
  readonly tenantId: TenantId;
  readonly adminId: string;
}

type Start = (setup: Self & { readonly totpSecretRef: string }) => Promise<unknown>;

/**
 * Stores a secret that was entered into an authenticator app until its first code arrives. Throws 409 if a second
 * factor is enabled.
 */
export async function beginMfaSetup(
  services: MfaSetupDependencies,
  kind: AccountKind,
  { tenantId, adminId }: Self,
  secret: string,
  start: Start,
): Promise<void> {
  const totpSecretRef = await services.vault.put(tenantId, kind.places.totpSecret(adminId), secret);
  await start({ tenantId, adminId, totpSecretRef }).catch((error: unknown) =>
    deleteSecretsIfRefused(services, tenantId, [totpSecretRef], error),
  );
}

/**
 * The time step of the app's first code for the pending secret. Throws 400 for a wrong code, 409 if no secret is
 * pending.
 */
export async function firstStepOf(
  services: MfaSetupDependencies,
  kind: AccountKind,
  { tenantId, adminId }: Self,
  code: string,
): Promise<{ readonly totpSecretRef: string; readonly step: number }> {
  const admin = await kind.find(services, tenantId, adminId);
  const totpSecretRef = admin?.pendingTotpSecretRef;
  const secret = totpSecretRef && (await services.vault.get(tenantId, kind.places.totpSecret(adminId), totpSecretRef));
  if (!totpSecretRef || !secret)
    throw new FailureError(conflict(admin?.mfa ? 'mfa_already_enabled' : 'mfa_not_started'));
  const step = await stepOfCode(secret.toString(), code, Date.now());
  if (step === undefined) throw new FailureError(invalid('code', 'is not the current code'));
  return { totpSecretRef, step };
}

/** Returns ten codes to be shown once; their digests go into the vault. */
export async function makeBackupCodes(
  { passwords, vault }: MfaSetupDependencies,
  kind: AccountKind,
  { tenantId, adminId }: Self,
  fresh: FreshValues,
): Promise<{ readonly codes: readonly string[]; readonly backupCodesRef: string }> {
  const { codes, kept } = await newBackupCodes(passwords, fresh.integers('backup codes'));
  return { codes, backupCodesRef: await vault.put(tenantId, kind.places.backupCodes(adminId), kept) };
}
