import { z } from 'zod';
import { createAdminUser } from '../../../../../commands/admins/create-admin-user.ts';
import { deleteAdminUser } from '../../../../../commands/admins/delete-admin-user.ts';
import { unlockLogin } from '../../../../../commands/identity/unlock-login.ts';
import { resetAdminPassword } from '../../../../../commands/admins/reset-admin-password.ts';
import { setAdminMobileAccess } from '../../../../../commands/admins/set-admin-mobile-access.ts';
import { updateAdminUser } from '../../../../../commands/admins/update-admin-user.ts';
import { adminUserView } from '../../../../../queries/admins/admin-user-view.ts';
import { getAdminUser, viewOfNewAdminUser } from '../../../../../queries/admins/get-admin-user.ts';
import { listAdminUsers } from '../../../../../queries/admins/list-admin-users.ts';
import { emailField, newPassword } from '../../../../contexts/identity/domain/password-rule.ts';
import { adminRoles, adminRoleSchema } from '../../../../contexts/identity/domain/roles.ts';
import { randomPassword } from '../../../../contexts/identity/passwords.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { admin, adminReauthenticated, adminReauthenticatedWhere } from '../../access.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import type { Logger } from 'pino';
import type { Vault } from '../../../../platform/vault/vault.ts';
import { nameField } from '../../../../platform/kernel/name-field.ts';

export interface AdminUsersRouteDependencies {
  readonly log: Logger;
  readonly vault: Vault;
}

const route = routeWith<AdminUsersRouteDependencies>();

const base = '/api/v1/admin/admin-users';
const one = { path: `${base}/{userID}`, params: z.object({ userID: uuid() }) };
const displayName = nameField({ min: 2, max: 100 });

export const adminUserRoutes: RouteGroup<AdminUsersRouteDependencies> = {
  area: 'admin-users',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('admin-users:read'),
      summary: 'List the admins of the tenant',
      description: 'Returns all of them, newest first.',
      response: z.object({ adminUsers: z.array(adminUserView), total: z.int() }),
      handle: ({ ask }) => ask(listAdminUsers, undefined),
    }),
    route({
      method: 'POST',
      path: base,
      access: adminReauthenticated('admin-users:write'),
      summary: 'Add an admin',
      refuses: ['already_exists'],
      description:
        'Without a password, the response contains a temporary one, once. It is valid for seven days and must be changed at the first sign-in.',
      body: z.object({ email: emailField, displayName, roleType: adminRoleSchema, password: newPassword.optional() }),
      status: 201,
      response: adminUserView.extend({
        temporaryPassword: z.string().optional(),
        temporaryPasswordExpiresAt: z.iso.datetime().optional(),
      }),
      handle: async ({ body: { password, ...details }, run, principal, created, fresh }) => {
        const { reauthenticated, tenantId } = principal;
        const adminId = fresh.id('admin');
        const temporaryPassword =
          password === undefined ? randomPassword(fresh.integers('temporary password')) : undefined;
        const executed = await run(createAdminUser, {
          ...details,
          adminId,
          password: password ?? temporaryPassword!,
          mustChangePassword: password === undefined,
          reauthenticated,
        });
        const view = await created(executed, getAdminUser, { adminId }, viewOfNewAdminUser(tenantId, adminId));
        return temporaryPassword === undefined
          ? view
          : { ...view, temporaryPassword, temporaryPasswordExpiresAt: executed.result.passwordExpiresAt! };
      },
    }),
    route({
      method: 'GET',
      path: `${base}/roles`,
      access: admin('roles:read'),
      summary: 'List the roles that an admin can have',
      response: z.object({ roles: z.array(adminRoleSchema), total: z.int() }),
      handle: async () => ({ roles: [...adminRoles], total: adminRoles.length }),
    }),
    route({
      ...one,
      method: 'GET',
      access: admin('admin-users:read'),
      summary: 'Get an admin',
      response: adminUserView,
      handle: ({ ask, params: { userID } }) => ask(getAdminUser, { adminId: userID }),
    }),
    route({
      ...one,
      method: 'PUT',
      access: adminReauthenticatedWhere(
        'admin-users:write',
        'the e-mail changes, the role gets more rights, a suspension ends, or role or status (a lock included) of an account change that is, or becomes, super_admin or admin',
      ),
      summary: 'Change an admin',
      refuses: ['already_exists', 'own_account', 'last_super_admin'],
      description: 'Fields that are left out keep their values. `status: active` also ends a lock.',
      body: z.object({
        email: emailField.optional(),
        displayName: displayName.optional(),
        roleType: adminRoleSchema.optional(),
        status: z.enum(['active', 'suspended']).optional(),
      }),
      response: adminUserView,
      handle: async ({ run, ask, params: { userID }, body, principal: { reauthenticated } }) => {
        const unlocks = body.status === 'active' && (await ask(getAdminUser, { adminId: userID })).status === 'locked';
        const { result } = await run(updateAdminUser, { ...body, adminId: userID, unlocks, reauthenticated });
        if (unlocks) await run(unlockLogin, { accountDigest: result.accountDigest, subjectId: userID });
        return ask(getAdminUser, { adminId: userID });
      },
    }),
    route({
      ...one,
      method: 'DELETE',
      access: adminReauthenticatedWhere('admin-users:write', 'the account is super_admin or admin'),
      summary: 'Remove an admin and end their sessions',
      refuses: ['own_account', 'last_super_admin'],
      description: 'Refused for the caller and for the last active super admin.',
      handle: async ({ run, params: { userID }, principal }) => {
        await run(deleteAdminUser, { adminId: userID, reauthenticated: principal.reauthenticated });
      },
    }),
    route({
      method: 'POST',
      path: `${one.path}/reset-password`,
      params: one.params,
      access: adminReauthenticated('admin-users:write'),
      summary: "Reset an admin's password and end their sessions",
      description:
        'The response contains a temporary password, once. It is valid for seven days and must be changed at the next sign-in.',
      response: z.object({
        temporaryPassword: z.string(),
        temporaryPasswordExpiresAt: z.iso.datetime(),
        message: z.string(),
      }),
      handle: async ({ run, params: { userID }, fresh }) => {
        const temporaryPassword = randomPassword(fresh.integers('temporary password'));
        const { result } = await run(resetAdminPassword, { adminId: userID, temporaryPassword });
        // Failed attempts at the old password must not lock out the new one.
        await run(unlockLogin, { accountDigest: result.accountDigest, subjectId: userID });
        return {
          temporaryPassword,
          temporaryPasswordExpiresAt: result.passwordExpiresAt,
          message: 'the password must be changed at the next sign-in',
        };
      },
    }),
    route({
      method: 'PUT',
      path: `${one.path}/mobile-access`,
      params: one.params,
      access: adminReauthenticatedWhere('admin-users:write', 'the admin loses access'),
      summary: 'Allow or forbid an admin the mobile app',
      operation: 'setAdminUserMobileAccess',
      description: 'Without a body, toggles the current value.',
      body: z.object({ mobileAccess: z.boolean().nullish() }).nullish(),
      response: adminUserView,
      handle: async ({ run, ask, params: { userID }, body, principal: { reauthenticated } }) => {
        const mobileAccess = body?.mobileAccess ?? undefined;
        await run(setAdminMobileAccess, { adminId: userID, mobileAccess, reauthenticated });
        return ask(getAdminUser, { adminId: userID });
      },
    }),
  ],
};
