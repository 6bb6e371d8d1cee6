import { z } from 'zod';
import { changeOrgPassword } from '../../../../../commands/organizations/change-org-password.ts';
import { disableOrgMfa } from '../../../../../commands/organizations/disable-org-mfa.ts';
import { enableOrgMfa } from '../../../../../commands/organizations/enable-org-mfa.ts';
import { revokeOtherOrgSessions } from '../../../../../commands/organizations/revoke-other-org-sessions.ts';
import { startOrgMfaSetup } from '../../../../../commands/organizations/start-org-mfa-setup.ts';
import { listOrgAdminSessions } from '../../../../../queries/identity/list-own-sessions.ts';
import { getOrgAdmin } from '../../../../../queries/organizations/get-org-admin.ts';
import { orgMfaStatus } from '../../../../../queries/organizations/org-mfa-status.ts';
import { orgAdminAccounts } from '../../../../contexts/identity/account-kinds.ts';
import {
  newPassword,
  presentedPassword,
  repeatedPassword,
} from '../../../../contexts/identity/domain/password-rule.ts';
import { passwordChanged } from '../../../../contexts/identity/forced-password-change.ts';
import { confirmOrgPassword, type OrgSignInDependencies } from '../../../../contexts/identity/org-sign-in.ts';
import { orgReader, orgSelfReauthenticated } from '../../access.ts';
import { actorOf } from '../../principal.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { accountMfaRoutes, type MfaRouteDependencies } from '../identity/account-mfa.ts';
import { accountSessionRoutes, type SessionRouteDependencies } from '../identity/account-sessions.ts';
import { orgAdminNames, type OrgAdminNamesDependencies } from './org-admin-names.ts';

export interface OrgAccountRouteDependencies
  extends OrgAdminNamesDependencies, OrgSignInDependencies, MfaRouteDependencies, SessionRouteDependencies {}

const route = routeWith<OrgAccountRouteDependencies>();

/** The calling org admin's own account: second factor, password, sessions. For every role. */
export const orgAccountRoutes: RouteGroup<OrgAccountRouteDependencies> = {
  area: 'org',
  routes: [
    ...accountMfaRoutes({
      accounts: orgAdminAccounts,
      path: '/api/v1/org/mfa',
      access: { read: orgReader, change: orgSelfReauthenticated },
      status: orgMfaStatus,
      account: getOrgAdmin,
      start: startOrgMfaSetup,
      enable: enableOrgMfa,
      disable: disableOrgMfa,
      enableOperation: 'enableOrgMfa',
    }),
    route({
      method: 'POST',
      path: '/api/v1/org/change-password',
      access: orgReader,
      summary: 'Change the password of the calling admin',
      operation: 'changeOrgPassword',
      refuses: ['account_locked', 'invalid_credentials', 'password_changed_meanwhile', 'sso_required'],
      description: 'Ends all their other sessions. 401 if the current password is wrong.',
      body: z
        .object({ currentPassword: presentedPassword, newPassword, confirmPassword: z.string().max(256).optional() })
        .check(repeatedPassword),
      response: passwordChanged,
      handle: async ({ body, run, recall, services, principal, request }) => {
        const { tenantId, adminId, sessionId } = principal;
        const done = { success: true as const, message: 'the password was changed; other sessions have ended' };
        // The current password was right in the first attempt, but no longer is.
        const asked = { adminId, newPassword: body.newPassword, keptSessionId: sessionId };
        if (await recall(changeOrgPassword, { ...asked, provedRef: '', known: [] })) return done;
        const actor = actorOf(principal, request);
        const { passwordRef: provedRef } = await confirmOrgPassword(
          services,
          { organizationId: tenantId, adminId, sessionId },
          body.currentPassword,
          actor,
        );
        const known = await orgAdminNames(services, tenantId, adminId);
        await run(changeOrgPassword, { ...asked, provedRef, known });
        return done;
      },
    }),
    ...accountSessionRoutes({
      path: '/api/v1/org/me/sessions',
      access: { read: orgReader, change: orgReader },
      list: listOrgAdminSessions,
      accounts: 'org_admins',
      isLive: async (lookups, tenantId, sessionId) => Boolean(await lookups.orgSession(tenantId, sessionId)),
      revokeOthers: revokeOtherOrgSessions,
      operations: { list: 'listOwnOrgSessions', endOthers: 'endOtherOrgSessions', end: 'endOwnOrgSession' },
    }),
  ],
};
