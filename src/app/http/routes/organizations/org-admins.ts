import { z } from 'zod';
import { unlockLogin } from '../../../../../commands/identity/unlock-login.ts';
import { createOrgAdmin } from '../../../../../commands/organizations/create-org-admin.ts';
import { deleteOrgAdmin } from '../../../../../commands/organizations/delete-org-admin.ts';
import { resetOrgAdminPassword } from '../../../../../commands/organizations/reset-org-admin-password.ts';
import { updateOrgAdmin } from '../../../../../commands/organizations/update-org-admin.ts';
import {
  getOrgAdminAccount,
  listOrgAdminAccounts,
  orgAdminAccountView,
} from '../../../../../queries/organizations/org-admin-account.ts';
import { emailField, newPassword } from '../../../../contexts/identity/domain/password-rule.ts';
import { orgRoles, orgRoleSchema } from '../../../../contexts/identity/domain/roles.ts';
import { randomPassword } from '../../../../contexts/identity/passwords.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { orgAdministration, orgOwnerReauthenticated, orgReader } from '../../access.ts';
import { route, type RouteGroup } from '../../route.ts';
import { nameField } from '../../../../platform/kernel/name-field.ts';

const base = '/api/v1/org/admins';
const one = { path: `${base}/{adminId}`, params: z.object({ adminId: uuid() }) };
const displayName = nameField({ min: 2, max: 100 });

/** The admins of an organization, administered by its owners (OP-343, OP-344). */
export const orgAdminRoutes: RouteGroup = {
  area: 'org',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: orgAdministration,
      summary: 'List the admins of the organization',
      description: 'Returns all of them, newest first.',
      response: z.object({ admins: z.array(orgAdminAccountView), total: z.int() }),
      handle: ({ ask }) => ask(listOrgAdminAccounts, undefined),
    }),
    route({
      method: 'POST',
      path: base,
      access: orgOwnerReauthenticated,
      summary: 'Add an admin of the organization',
      refuses: ['already_exists'],
      description:
        'Without a password, the response contains a temporary one, once. It is valid for seven days and must be changed at the first sign-in. 409 if the e-mail administers an organization of this installation already.',
      body: z.object({ email: emailField, displayName, role: orgRoleSchema, password: newPassword.optional() }),
      status: 201,
      response: orgAdminAccountView.extend({
        temporaryPassword: z.string().optional(),
        temporaryPasswordExpiresAt: z.iso.datetime().optional(),
      }),
      handle: async ({ body: { password, ...details }, run, ask, fresh, reply, principal: { tenantId } }) => {
        const adminId = fresh.id('org admin');
        const temporaryPassword =
          password === undefined ? randomPassword(fresh.integers('temporary password')) : undefined;
        const { result } = await run(createOrgAdmin, {
          ...details,
          adminId,
          password: password ?? temporaryPassword!,
          mustChangePassword: password === undefined,
        });
        // The password is shown once, so the response does not depend on the read side.
        const now = new Date().toISOString();
        const created = reply.hasHeader('x-stale')
          ? {
              ...details,
              id: adminId,
              organizationId: tenantId,
              status: 'active' as const,
              mfaEnabled: false,
              mustChangePassword: password === undefined,
              lastLoginAt: null,
              lockedUntil: null,
              createdAt: now,
              updatedAt: now,
            }
          : await ask(getOrgAdminAccount, { adminId });
        return temporaryPassword === undefined
          ? created
          : { ...created, temporaryPassword, temporaryPasswordExpiresAt: result.passwordExpiresAt! };
      },
    }),
    route({
      method: 'GET',
      path: `${base}/roles`,
      access: orgReader,
      summary: 'List the roles that an admin of an organization can have',
      response: z.object({ roles: z.array(orgRoleSchema), total: z.int() }),
      handle: async () => ({ roles: [...orgRoles], total: orgRoles.length }),
    }),
    route({
      ...one,
      method: 'GET',
      access: orgAdministration,
      summary: 'Get an admin of the organization',
      response: orgAdminAccountView,
      handle: ({ ask, params }) => ask(getOrgAdminAccount, params),
    }),
    route({
      ...one,
      method: 'PUT',
      access: orgOwnerReauthenticated,
      summary: 'Change an admin of the organization',
      refuses: ['own_account'],
      description:
        'Fields that are left out keep their values. `status: suspended` ends their sessions; `status: active` also ends a lock. 409 for the own role or suspension, and for the last active owner.',
      body: z.object({
        email: emailField.optional(),
        displayName: displayName.optional(),
        role: orgRoleSchema.optional(),
        status: z.enum(['active', 'suspended']).optional(),
      }),
      response: orgAdminAccountView,
      handle: async ({ run, ask, params: { adminId }, body }) => {
        const unlocks = body.status === 'active' && (await ask(getOrgAdminAccount, { adminId })).status === 'locked';
        const { result } = await run(updateOrgAdmin, { ...body, adminId });
        if (unlocks) await run(unlockLogin, { accountDigest: result.accountDigest, subjectId: adminId });
        return ask(getOrgAdminAccount, { adminId });
      },
    }),
    route({
      ...one,
      method: 'DELETE',
      access: orgOwnerReauthenticated,
      summary: 'Remove an admin of the organization and end their sessions',
      refuses: ['last_owner', 'own_account'],
      description: '409 for the caller and for the last active owner.',
      handle: async ({ run, params }) => {
        await run(deleteOrgAdmin, params);
      },
    }),
    route({
      method: 'POST',
      path: `${one.path}/reset-password`,
      params: one.params,
      access: orgOwnerReauthenticated,
      summary: "Reset the password of an organization's admin and end their sessions",
      refuses: ['own_account'],
      description:
        'The response contains a temporary password, once. It is valid for seven days and must be changed at the next sign-in. 409 for the own account.',
      response: z.object({
        temporaryPassword: z.string(),
        temporaryPasswordExpiresAt: z.iso.datetime(),
        message: z.string(),
      }),
      handle: async ({ run, params: { adminId }, fresh }) => {
        const temporaryPassword = randomPassword(fresh.integers('temporary password'));
        const { result } = await run(resetOrgAdminPassword, { adminId, temporaryPassword });
        // Failed attempts at the old password must not lock out the new one.
        await run(unlockLogin, { accountDigest: result.accountDigest, subjectId: adminId });
        return {
          temporaryPassword,
          temporaryPasswordExpiresAt: result.passwordExpiresAt,
          message: 'the password must be changed at the next sign-in',
        };
      },
    }),
  ],
};
