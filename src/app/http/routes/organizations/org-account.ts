import { z } from 'zod';
import { revokeSession } from '../../../../../commands/identity/revoke-session.ts';
import { changeOrgPassword } from '../../../../../commands/organizations/change-org-password.ts';
import { disableOrgMfa } from '../../../../../commands/organizations/disable-org-mfa.ts';
import { enableOrgMfa } from '../../../../../commands/organizations/enable-org-mfa.ts';
import { startOrgMfaSetup } from '../../../../../commands/organizations/start-org-mfa-setup.ts';
import { revokeOtherOrgSessions } from '../../../../../commands/organizations/revoke-other-org-sessions.ts';
import { mfaStatusView } from '../../../../../queries/admins/mfa-status.ts';
import { getOrgAdmin } from '../../../../../queries/organizations/get-org-admin.ts';
import { orgMfaStatus } from '../../../../../queries/organizations/org-mfa-status.ts';
import { listOrgAdminSessions, ownSessionView } from '../../../../../queries/identity/list-own-sessions.ts';
import { newPassword, presentedPassword } from '../../../../contexts/identity/domain/password-rule.ts';
import { orgAdminAccounts } from '../../../../contexts/identity/account-kinds.ts';
import { newBackupCodes } from '../../../../contexts/identity/backup-codes.ts';
import { beginMfaSetup, firstStepOf, makeBackupCodes } from '../../../../contexts/identity/mfa-setup.ts';
import { confirmOrgPassword, type OrgSignInDependencies } from '../../../../contexts/identity/org-sign-in.ts';
import { newTotpSecret, otpauthUrl, qrCode, totpCodeField } from '../../../../contexts/identity/totp.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { deleteSecretsIfRefused } from '../../../../platform/resources/secrets.ts';
import { orgReader, orgSelfReauthenticated } from '../../access.ts';
import { passwordChanged } from '../../../../contexts/identity/forced-password-change.ts';
import { orgAdminNames, type OrgAdminNamesDependencies } from './org-admin-names.ts';
import { actorOf } from '../../principal.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import type { Logger } from 'pino';
import type { Freshness } from '../../../../platform/projector/freshness.ts';
import type { Vault } from '../../../../platform/vault/vault.ts';
import type { Passwords } from '../../../../contexts/identity/passwords.ts';
import type { RefreshTokens } from '../../../../contexts/identity/refresh-tokens.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';
import type { Position } from '../../../../platform/kernel/event.ts';

export interface OrgAccountRouteDependencies extends OrgAdminNamesDependencies, OrgSignInDependencies {
  readonly log: Logger;
  readonly freshness: Freshness;
  readonly vault: Vault;
  readonly passwords: Passwords;
  readonly refreshTokens: RefreshTokens;
  readonly lookups: Lookups;
  head(): Promise<Position>;
}

const route = routeWith<OrgAccountRouteDependencies>();

const mfa = '/api/v1/org/mfa';
const sessions = '/api/v1/org/me/sessions';

/** The calling org admin's own account: second factor, password, sessions. For every role. */
export const orgAccountRoutes: RouteGroup<OrgAccountRouteDependencies> = {
  area: 'org',
  routes: [
    route({
      method: 'GET',
      path: `${mfa}/status`,
      access: orgReader,
      summary: 'Get the status of the second factor',
      description: 'Whether it is enabled, and the number of unused backup codes.',
      response: mfaStatusView,
      handle: ({ ask, principal: { adminId } }) => ask(orgMfaStatus, { adminId }),
    }),
    route({
      method: 'POST',
      path: `${mfa}/setup`,
      access: orgSelfReauthenticated,
      summary: 'Start the set-up of a second factor',
      refuses: ['mfa_already_enabled'],
      description:
        'Returns the secret for an authenticator app, once. Sign-ins need it only after its first code was verified.',
      response: z.object({ secret: z.string(), otpauthUrl: z.string(), qrCode: z.string() }),
      handle: async ({ ask, run, recall, services, principal, fresh }) => {
        const { email } = await ask(getOrgAdmin, { adminId: principal.adminId });
        const secret = newTotpSecret((size) => fresh.bytes('totp secret', size));
        const earlier = await recall(startOrgMfaSetup, { adminId: principal.adminId, totpSecretRef: '' });
        if (!earlier)
          await beginMfaSetup(services, orgAdminAccounts, principal, secret, ({ adminId, totpSecretRef }) =>
            run(startOrgMfaSetup, { adminId, totpSecretRef }),
          );
        const url = otpauthUrl(secret, email);
        return { secret, otpauthUrl: url, qrCode: await qrCode(url) };
      },
    }),
    route({
      method: 'POST',
      path: `${mfa}/setup/verify`,
      access: orgSelfReauthenticated,
      summary: 'Enable the second factor',
      operation: 'enableOrgMfa',
      refuses: ['mfa_already_enabled', 'mfa_not_started'],
      description: 'Needs the first code of the authenticator app. Returns ten backup codes, once.',
      body: z.object({ code: totpCodeField }),
      response: z.object({ enabled: z.literal(true), backupCodes: z.array(z.string()) }),
      handle: async ({ body, run, recall, services, principal, fresh }) => {
        const { tenantId, adminId } = principal;
        // The code was valid in the first attempt, but no longer is.
        const earlier = await recall(enableOrgMfa, {
          adminId,
          totpSecretRef: '',
          step: 0,
          backupCodesRef: '',
          backupCodes: 0,
        });
        if (earlier)
          return {
            enabled: true,
            backupCodes: (await newBackupCodes(services.passwords, fresh.integers('backup codes'))).codes,
          };
        const { totpSecretRef, step } = await firstStepOf(services, orgAdminAccounts, principal, body.code);
        const { codes, backupCodesRef } = await makeBackupCodes(services, orgAdminAccounts, principal, fresh);
        await run(enableOrgMfa, { adminId, totpSecretRef, step, backupCodesRef, backupCodes: codes.length }).catch(
          (error: unknown) => deleteSecretsIfRefused(services, tenantId, [backupCodesRef], error),
        );
        return { enabled: true, backupCodes: codes };
      },
    }),
    route({
      method: 'DELETE',
      path: mfa,
      access: orgSelfReauthenticated,
      summary: 'Disable the second factor',
      handle: async ({ run, principal: { adminId } }) => {
        await run(disableOrgMfa, { adminId });
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/org/change-password',
      access: orgReader,
      summary: 'Change the password of the calling admin',
      operation: 'changeOrgPassword',
      refuses: ['account_locked', 'invalid_credentials'],
      description: 'Ends all their other sessions. 401 if the current password is wrong.',
      body: z
        .object({ currentPassword: presentedPassword, newPassword, confirmPassword: z.string().max(256).optional() })
        .refine(({ newPassword: chosen, confirmPassword = chosen }) => chosen === confirmPassword, {
          path: ['confirmPassword'],
          message: 'must equal newPassword',
        }),
      response: passwordChanged,
      handle: async ({ body, run, recall, services, principal, request }) => {
        const { tenantId, adminId, sessionId } = principal;
        const done = { success: true as const, message: 'the password was changed; other sessions have ended' };
        // The current password was right in the first attempt, but no longer is.
        const asked = { adminId, newPassword: body.newPassword, keptSessionId: sessionId };
        if (await recall(changeOrgPassword, { ...asked, provedRef: '', known: [] })) return done;
        const actor = actorOf(principal, request.ip, request.headers['user-agent']);
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
    route({
      method: 'GET',
      path: sessions,
      access: orgReader,
      summary: "List the calling admin's sessions",
      operation: 'listOwnOrgSessions',
      description: 'Newest first.',
      response: z.object({ sessions: z.array(ownSessionView), total: z.int() }),
      handle: async ({ ask, services, principal: { tenantId, adminId, sessionId: currentId } }) => {
        // Sign-ins do not wait for this read model, but an admin who looks for an intruder must see every session.
        const head = await services.head();
        const [expiries] = await Promise.all([
          services.refreshTokens.expiries(tenantId, adminId),
          services.freshness.waitFor(['admin_sessions', 'org_admins'], head),
        ]);
        const { sessions: known } = await ask(listOrgAdminSessions, { adminId, currentId, expiries });
        // The table still lists sessions whose identity provider was removed; the look-up knows that they have ended.
        const live = await Promise.all(
          known.map(async (session) => ((await services.lookups.orgSession(tenantId, session.id)) ? [session] : [])),
        );
        const good = live.flat();
        return { sessions: good, total: good.length };
      },
    }),
    route({
      method: 'DELETE',
      path: sessions,
      access: orgReader,
      summary: 'End all other sessions of the calling admin',
      operation: 'endOtherOrgSessions',
      handle: async ({ run, principal: { adminId, sessionId: keptSessionId } }) => {
        await run(revokeOtherOrgSessions, { adminId, keptSessionId });
      },
    }),
    route({
      method: 'DELETE',
      path: `${sessions}/{sessionId}`,
      access: orgReader,
      summary: 'End a session of the calling admin',
      operation: 'endOwnOrgSession',
      description: 'May be the current one.',
      params: z.object({ sessionId: uuid() }),
      handle: async ({ run, services, params: { sessionId }, principal: { tenantId, adminId: subjectId } }) => {
        await run(revokeSession, { sessionId, subjectId });
        await services.refreshTokens.revokeSession(tenantId, sessionId);
      },
    }),
  ],
};
