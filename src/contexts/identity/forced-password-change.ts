import { z } from 'zod';
import { newPassword, repeatedPassword } from './domain/password-rule.ts';
import type { OneTimeToken, TokenPurpose, OneTimeTokens } from './one-time-tokens.ts';
import { FailureError, unauthenticated } from '../../platform/kernel/failure.ts';
import type { Logger } from 'pino';
import type { Vault } from '../../platform/vault/vault.ts';

export interface ForcedPasswordChangeDependencies {
  readonly log: Logger;
  readonly vault: Vault;
  readonly oneTimeTokens: OneTimeTokens;
}

export const forcedChangeBody = z
  .object({ tempToken: z.string().min(1).max(256), newPassword, confirmPassword: z.string().max(256) })
  .check(repeatedPassword);

export const passwordChanged = z.object({ success: z.literal(true), message: z.string() });

const invalidToken = () => new FailureError(unauthenticated('invalid_token'));

interface ForcedChange<Known> {
  readonly purpose: TokenPurpose;
  readonly tempToken: string;
  /** Loads what the change needs, or refuses, before the token is spent. */
  prepare(token: OneTimeToken): Promise<Known>;
  change(token: OneTimeToken, known: Known): Promise<unknown>;
}

/** Sets a new password where a change is required. Only a failure of the token itself requires a new sign-in. */
export async function changeForcedPassword<Known>(
  services: ForcedPasswordChangeDependencies,
  { purpose, tempToken, prepare, change }: ForcedChange<Known>,
): Promise<z.output<typeof passwordChanged>> {
  const token = await services.oneTimeTokens.peek(purpose, tempToken);
  if (!token) throw invalidToken();
  const known = await prepare(token);
  // Spent before the slow computation, so that only one of several concurrent requests continues.
  const spent = await services.oneTimeTokens.spend(purpose, tempToken);
  if (!spent) throw invalidToken();
  await change(token, known).catch(async (error: unknown) => {
    // Other failures, such as a refused password or an overload, do not cost a new sign-in.
    if (!(error instanceof FailureError && error.failure.kind === 'unauthenticated'))
      await services.oneTimeTokens.giveBack(purpose, tempToken, spent);
    throw error;
  });
  return { success: true, message: 'the password was changed; sign in with it' };
}
