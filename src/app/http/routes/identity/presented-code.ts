import { z } from 'zod';
import { backupCodeField } from '../../../../contexts/identity/backup-codes.ts';
import type { PresentedCode } from '../../../../contexts/identity/second-factor.ts';
import { totpCodeField } from '../../../../contexts/identity/totp.ts';

/** Either a code of the authenticator app (six digits) or a backup code, not both. */
export const presentedCodeBody = z
  .object({
    mfaToken: z.string().min(1).max(256),
    code: totpCodeField.optional(),
    backupCode: backupCodeField.optional(),
  })
  .refine(({ code, backupCode }) => (code === undefined) !== (backupCode === undefined), {
    path: ['code'],
    message: 'either code or backupCode is required',
  });

export const presentedIn = ({ code, backupCode }: z.output<typeof presentedCodeBody>): PresentedCode =>
  code === undefined ? { backupCode: backupCode! } : { code };
