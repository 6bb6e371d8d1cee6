import { z } from 'zod';
import { changeOwnName } from '../../../../../commands/identity/change-own-name.ts';
import { changeOwnPassword } from '../../../../../commands/identity/change-own-password.ts';
import { changeOwnOrgName } from '../../../../../commands/organizations/change-own-org-name.ts';
import { adminUserView } from '../../../../../queries/admins/admin-user-view.ts';
import { getAdminUser } from '../../../../../queries/admins/get-admin-user.ts';
import { getOrgAdminAccount, orgAdminAccountView } from '../../../../../queries/organizations/org-admin-account.ts';
import { confirmAdminPassword, type AdminSignInDependencies } from '../../../../contexts/identity/admin-sign-in.ts';
import {
  newPassword,
  presentedPassword,
  repeatedPassword,
} from '../../../../contexts/identity/domain/password-rule.ts';
import { passwordChanged } from '../../../../contexts/identity/forced-password-change.ts';
import { adminEvenUnlicensed, orgReader } from '../../access.ts';
import { actorOf } from '../../principal.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { nameField } from '../../../../platform/kernel/name-field.ts';

const route = routeWith<AdminSignInDependencies>();

const named = z.object({ displayName: nameField({ min: 2, max: 100 }) });

/** What administrators of every role change about their own account (OP-341). */
export const ownAccountRoutes: RouteGroup<AdminSignInDependencies> = {
  area: 'admin-me',
  routes: [
    route({
      method: 'PUT',
      path: '/api/v1/admin/me',
      access: adminEvenUnlicensed('self:write'),
      summary: "Change the calling admin's name",
      body: named,
      response: adminUserView,
      handle: async ({ run, ask, body: { displayName }, principal: { adminId } }) => {
        await run(changeOwnName, { adminId, displayName });
        return ask(getAdminUser, { adminId });
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/admin/change-password',
      access: adminEvenUnlicensed('self:write'),
      summary: "Change the calling admin's password",
      operation: 'changePassword',
      refuses: ['invalid_credentials', 'password_changed_meanwhile'],
      description: 'Ends all their other sessions. 401 if the current password is wrong.',
      body: z
        .object({ currentPassword: presentedPassword, newPassword, confirmPassword: z.string().max(256).optional() })
        .check(repeatedPassword),
      response: passwordChanged,
      handle: async ({ body, run, recall, ask, services, principal, request }) => {
        const { tenantId, adminId, sessionId } = principal;
        const done = { success: true as const, message: 'the password was changed; other sessions have ended' };
        // The current password was right in the first attempt, but no longer is.
        const asked = { adminId, newPassword: body.newPassword, keptSessionId: sessionId };
        if (await recall(changeOwnPassword, { ...asked, provedRef: '', known: [] })) return done;
        const actor = actorOf(principal, request);
        const proved = { tenantId, adminId, sessionId };
        const { passwordRef: provedRef } = await confirmAdminPassword(services, proved, body.currentPassword, actor);
        const { email, displayName } = await ask(getAdminUser, { adminId });
        await run(changeOwnPassword, { ...asked, provedRef, known: [email, displayName] });
        return done;
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/org/me',
      access: orgReader,
      summary: 'Get the calling admin of the organization',
      response: orgAdminAccountView,
      handle: ({ ask, principal: { adminId } }) => ask(getOrgAdminAccount, { adminId }),
    }),
    route({
      method: 'PUT',
      path: '/api/v1/org/me',
      access: orgReader,
      summary: "Change the name of the organization's calling admin",
      body: named,
      response: orgAdminAccountView,
      handle: async ({ run, ask, body: { displayName }, principal: { adminId } }) => {
        await run(changeOwnOrgName, { adminId, displayName });
        return ask(getOrgAdminAccount, { adminId });
      },
    }),
  ],
};
