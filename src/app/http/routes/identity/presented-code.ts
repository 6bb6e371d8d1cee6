import { z } from 'zod';
import { backupCodeField } from '../../../../contexts/identity/backup-codes.ts';
import type { PresentedCode } from '../../../../contexts/identity/second-factor.ts';
import { totpCodeField } from '../../../../contexts/identity/totp.ts';
import { ruleBetween } from '../../../../platform/kernel/rule-between.ts';

/** Either a code of the authenticator app (six digits) or a backup code, not both. */
export const presentedCodeBody = z
  .object({
    mfaToken: z.string().min(1).max(256),
    code: totpCodeField.optional(),
    backupCode: backupCodeField.optional(),
  })
  .check(
    ruleBetween(['code', 'backupCode'], ({ code, backupCode }) =>
      (code === undefined) !== (backupCode === undefined) ? undefined : 'either code or backupCode is required',
    ),
  );

export const presentedIn = ({ code, backupCode }: z.output<typeof presentedCodeBody>): PresentedCode =>
  code === undefined ? { backupCode: backupCode! } : { code };
