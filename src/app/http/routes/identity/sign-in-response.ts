import { z } from 'zod';
import { getAdminUser } from '../../../../../queries/admins/get-admin-user.ts';
import { getOrgAdmin } from '../../../../../queries/organizations/get-org-admin.ts';
import { orgRoleSchema, adminRoleSchema } from '../../../../contexts/identity/domain/roles.ts';
import type { SignInStep } from '../../../../contexts/identity/sign-in-steps.ts';
import { FailureError, temporarilyUnavailable } from '../../../../platform/kernel/failure.ts';
import type { TenantId } from '../../../../platform/kernel/ids.ts';
import type { HandlerContext } from '../../route.ts';

export const signedIn = z
  .object({
    accessToken: z.string(),
    refreshToken: z.string(),
    expiresAt: z.iso.datetime(),
    user: z.object({ id: z.uuid(), email: z.string(), displayName: z.string(), roleType: adminRoleSchema }),
  })
  .meta({ title: 'SignedIn' });
/** `reAuthToken`: if the sign-in was started with `reauthenticate=true`; valid for 300 seconds in this session. */
export const signedInByProvider = signedIn.extend({ reAuthToken: z.string().optional() });
export const mfaRequired = z
  .object({ mfaRequired: z.literal(true), mfaToken: z.string(), message: z.string() })
  .meta({ title: 'CodeRequired' });
export const passwordChangeRequired = z
  .object({
    mustChangePassword: z.literal(true),
    tempToken: z.string(),
    userId: z.uuid(),
    message: z.string(),
  })
  .meta({ title: 'PasswordChangeRequired' });

/** As `signedIn`, for an admin of an organization. */
export const signedInToOrganization = z
  .object({
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
  })
  .meta({ title: 'SignedInToOrg' });
/** `reAuthToken`: if started with `reauthenticate=true`; valid for one write in this session, for 300 seconds. */
export const signedInToOrganizationByProvider = signedInToOrganization.extend({ reAuthToken: z.string().optional() });
export const mfaRequiredByOrganization = mfaRequired.extend({ userId: z.uuid() });

/** The response to a step of a tenant admin's sign-in: tokens, or a token for the next step ("Authentication"). */
export async function signInResponse(
  next: SignInStep,
  tenantId: TenantId,
  adminId: string,
  ask: HandlerContext<never, never, never>['ask'],
): Promise<z.output<typeof signedIn> | z.output<typeof mfaRequired> | z.output<typeof passwordChangeRequired>> {
  if (next.step !== 'done') return askFor(next, adminId);
  const { id, email, displayName, roleType } = await shown(ask(getAdminUser, { adminId }, tenantId));
  return { ...next.tokens, user: { id, email, displayName, roleType } };
}

/** The account has just been authenticated, so it exists: where it is not found, the read side is behind. */
export const shown = <View>(account: Promise<View>): Promise<View> =>
  account.catch((error: unknown) => {
    const isUnseen = error instanceof FailureError && error.failure.kind === 'notFound';
    throw isUnseen ? new FailureError(temporarilyUnavailable('read_side_behind')) : error;
  });

/** As `signInResponse`, for an organization's admin. */
export async function orgSignInResponse(
  next: SignInStep,
  tenantId: TenantId,
  adminId: string,
  ask: HandlerContext<never, never, never>['ask'],
): Promise<
  | z.output<typeof signedInToOrganization>
  | z.output<typeof mfaRequiredByOrganization>
  | z.output<typeof passwordChangeRequired>
> {
  if (next.step === 'done') return { ...next.tokens, user: await shown(ask(getOrgAdmin, { adminId }, tenantId)) };
  return { ...askFor(next, adminId), userId: adminId };
}

function askFor(
  next: Exclude<SignInStep, { step: 'done' }>,
  adminId: string,
): z.output<typeof mfaRequired> | z.output<typeof passwordChangeRequired> {
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
