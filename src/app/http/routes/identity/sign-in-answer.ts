import { z } from 'zod';
import { getAdminUser } from '../../../../../queries/admins/get-admin-user.ts';
import { getOrgAdmin } from '../../../../../queries/organizations/get-org-admin.ts';
import { orgRoleSchema, roleSchema } from '../../../../contexts/identity/domain/roles.ts';
import type { NextStep } from '../../../../contexts/identity/sign-in-steps.ts';
import type { TenantId } from '../../../../platform/kernel/ids.ts';
import type { Call } from '../../route.ts';

export const signedIn = z.object({
  accessToken: z.string(),
  refreshToken: z.string(),
  expiresAt: z.iso.datetime(),
  user: z.object({ id: z.uuid(), email: z.string(), displayName: z.string(), roleType: roleSchema }),
});
/** `reAuthToken`: where the sign-in was started with `reauthenticate=true`; good for 300 seconds in this session. */
export const signedInByProvider = signedIn.extend({ reAuthToken: z.string().optional() });
export const mfaAsked = z.object({ mfaRequired: z.literal(true), mfaToken: z.string(), message: z.string() });
export const passwordChangeAsked = z.object({
  mustChangePassword: z.literal(true),
  tempToken: z.string(),
  userId: z.uuid(),
  message: z.string(),
});

/** An organization's admin signs in elsewhere, and belongs to one organization. */
export const signedInToOrganization = z.object({
  accessToken: z.string(),
  refreshToken: z.string(),
  expiresAt: z.iso.datetime(),
  user: z.object({
    id: z.uuid(),
    email: z.string(),
    displayName: z.string(),
    role: orgRoleSchema,
    organizationId: z.uuid(),
  }),
});
/** `reAuthToken`: where the sign-in was started with `reauthenticate=true`; good for one write of this session, within 300 seconds. */
export const signedInToOrganizationByProvider = signedInToOrganization.extend({ reAuthToken: z.string().optional() });
export const mfaAskedByOrganization = mfaAsked.extend({ userId: z.uuid() });

/** What a step of a tenant admin's sign-in answers: the tokens, or what the next step needs (interface, "Authentication"). */
export async function signInAnswer(
  next: NextStep,
  tenantId: TenantId,
  adminId: string,
  ask: Call<never, never, never>['ask'],
): Promise<z.output<typeof signedIn> | z.output<typeof mfaAsked> | z.output<typeof passwordChangeAsked>> {
  if (next.step !== 'done') return askFor(next, adminId);
  const { id, email, displayName, roleType } = await ask(getAdminUser, { adminId }, tenantId);
  return { ...next.tokens, user: { id, email, displayName, roleType } };
}

/** As `signInAnswer`, of an organization's admin. */
export async function orgSignInAnswer(
  next: NextStep,
  tenantId: TenantId,
  adminId: string,
  ask: Call<never, never, never>['ask'],
): Promise<
  | z.output<typeof signedInToOrganization>
  | z.output<typeof mfaAskedByOrganization>
  | z.output<typeof passwordChangeAsked>
> {
  if (next.step === 'done') return { ...next.tokens, user: await ask(getOrgAdmin, { adminId }, tenantId) };
  return { ...askFor(next, adminId), userId: adminId };
}

function askFor(
  next: Exclude<NextStep, { step: 'done' }>,
  adminId: string,
): z.output<typeof mfaAsked> | z.output<typeof passwordChangeAsked> {
  return next.step === 'mfa'
    ? {
        mfaRequired: true,
        mfaToken: next.token,
        message: 'a code of the authenticator app or a backup code is required',
      }
    : {
        mustChangePassword: true,
        tempToken: next.token,
        userId: adminId,
        message: 'the password must be changed before the first sign-in',
      };
}
