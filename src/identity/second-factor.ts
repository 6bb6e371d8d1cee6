import { acceptTotpCode } from '../../commands/auth/accept-totp-code.ts';
import { attemptLogin } from '../../commands/auth/attempt-login.ts';
import { useBackupCode } from '../../commands/auth/use-backup-code.ts';
import type { Tried } from '../domain/logins/login.ts';
import { backupCodesPlace, totpSecretPlace, type MfaState } from '../domain/tenants/admin.ts';
import { tenant, tenantStream, type AdminState } from '../domain/tenants/tenant.ts';
import { FailureError, orThrow, unauthenticated } from '../kernel/failure.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { Services } from '../services.ts';
import { accountOf, admit, type AdminAtTheDoor, type NextStep } from './admin-sign-in.ts';
import { placeOfCode } from './backup-codes.ts';
import type { Reservation } from './hashing-turns.ts';
import { behalfOf } from './sign-in.ts';
import { stepOfCode } from './totp.ts';
import type { Visitor } from './visitor.ts';

export type PresentedCode = { readonly code: string } | { readonly backupCode: string };

const invalidCode = () => new FailureError(unauthenticated('invalid code'));
const invalidToken = () => new FailureError(unauthenticated('invalid or expired token'));

/**
 * The second step of a sign-in. A try is taken from the token and from the account before the code is looked at; the code
 * is used up by one append before anything is handed out. Throws 401, and 403 for a locked account.
 */
export async function passSecondFactor(
  services: Services,
  mfaToken: string,
  presented: PresentedCode,
  isFor: (tenantId: TenantId) => void,
  visitor: Visitor,
): Promise<{ readonly tenantId: TenantId; readonly admin: AdminState; readonly next: NextStep }> {
  const known = await services.oneTimeTokens.peek('mfa', mfaToken);
  if (!known) throw invalidToken();
  const { tenantId, subjectId, payload } = known;
  isFor(tenantId);
  // Before a try is taken of anything: in a storm of checks nobody loses one who was not heard.
  const place = 'backupCode' in presented ? services.passwords.reserve({ tenantId, address: visitor.actor.ip ?? '' }) : undefined;
  try {
    return await passWith(services, { mfaToken, tenantId, subjectId, payload }, presented, visitor, place);
  } finally {
    place?.giveBack();
  }
}

interface Challenge {
  readonly mfaToken: string;
  readonly tenantId: TenantId;
  readonly subjectId: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

async function passWith(services: Services, { mfaToken, tenantId, subjectId, payload }: Challenge, presented: PresentedCode, { actor, sourceOf }: Visitor, place: Reservation | undefined) {
  if (!(await services.oneTimeTokens.spend('mfa', mfaToken))) throw invalidToken();
  const admin = (await services.loader.load(tenant, tenantStream(tenantId))).admins.get(subjectId);
  // A reset, a suspension or a recovery since then has made the token worthless.
  if (admin?.status !== 'active' || admin.sessionEpoch !== payload['epoch'] || !admin.mfa) throw invalidToken();
  const atTheDoor = { tenantId, admin, actor, source: sourceOf({ scope: tenantId, accountDigest: admin.accountDigest }) };
  const tried = await useUpCode(services, atTheDoor, admin.mfa, presented, place);
  // Of two right codes under one token, one lets in.
  if (!(await services.oneTimeTokens.discard('mfa', mfaToken))) throw invalidToken();
  return { tenantId, admin, next: await admit(services, atTheDoor, tried, 'code' in presented ? 'password+totp' : 'password+backup_code') };
}

async function useUpCode(services: Services, atTheDoor: AdminAtTheDoor, mfa: MfaState, presented: PresentedCode, reservation: Reservation | undefined): Promise<Tried> {
  const { tenantId, admin: { adminId } } = atTheDoor;
  const account = accountOf(atTheDoor);
  const behalf = behalfOf(account);
  const { accountDigest, subjectId, source } = account;
  const { result } = orThrow(await services.executor.execute(attemptLogin, { accountDigest, subjectId, factor: 'code', source }, behalf));
  if ('code' in presented) {
    const secret = await services.vault.get(tenantId, totpSecretPlace(adminId), mfa.totpSecretRef);
    const step = secret && (await stepOfCode(secret.toString(), presented.code, Date.now()));
    if (step === undefined || step <= mfa.enabledStep) throw invalidCode();
    orThrow(await services.executor.execute(acceptTotpCode, { adminId, totpSecretRef: mfa.totpSecretRef, step }, behalf));
  } else {
    const kept = await services.vault.get(tenantId, backupCodesPlace(adminId), mfa.backupCodesRef);
    const place = kept && (await placeOfCode(kept.toString(), presented.backupCode, services.passwords, reservation));
    if (place === undefined) throw invalidCode();
    const { position } = orThrow(await services.executor.execute(useBackupCode, { adminId, backupCodesRef: mfa.backupCodesRef, place }, behalf));
    // The status that is asked for next counts the codes that are left.
    await services.freshness.waitFor(useBackupCode.freshens ?? [], position!);
  }
  return result.tried;
}
