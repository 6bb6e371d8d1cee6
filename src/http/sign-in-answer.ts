import { z } from 'zod';
import { getAdminUser } from '../../queries/admins/get-admin-user.ts';
import { roleSchema } from '../domain/identity/roles.ts';
import type { NextStep } from '../identity/admin-sign-in.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { Call } from './route.ts';

export const signedIn = z.object({
  accessToken: z.string(),
  refreshToken: z.string(),
  expiresAt: z.iso.datetime(),
  user: z.object({ id: z.uuid(), email: z.string(), displayName: z.string(), roleType: roleSchema }),
});
/** `reAuthToken`: where the sign-in was started with `reauthenticate=true`; good for 300 seconds in this session. */
export const signedInByProvider = signedIn.extend({ reAuthToken: z.string().optional() });
export const mfaAsked = z.object({ mfaRequired: z.literal(true), mfaToken: z.string(), message: z.string() });
export const passwordChangeAsked = z.object({ mustChangePassword: z.literal(true), tempToken: z.string(), userId: z.uuid(), message: z.string() });

/** What a step of signing in answers: the tokens, or what the next step needs (interface, "Authentication"). */
export async function signInAnswer(
  next: NextStep,
  tenantId: TenantId,
  adminId: string,
  ask: Call<never, never, never>['ask'],
): Promise<z.output<typeof signedIn> | z.output<typeof mfaAsked> | z.output<typeof passwordChangeAsked>> {
  switch (next.step) {
    case 'mfa':
      return { mfaRequired: true, mfaToken: next.token, message: 'a code of the authenticator app or a backup code is required' };
    case 'change-password':
      return { mustChangePassword: true, tempToken: next.token, userId: adminId, message: 'the password must be changed before the first sign-in' };
    case 'done': {
      const { id, email, displayName, roleType } = await ask(getAdminUser, { adminId }, tenantId);
      return { ...next.tokens, user: { id, email, displayName, roleType } };
    }
  }
}
