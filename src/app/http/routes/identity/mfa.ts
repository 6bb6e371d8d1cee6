import { z } from 'zod';
import { disableMfa } from '../../../../../commands/identity/disable-mfa.ts';
import { enableMfa } from '../../../../../commands/identity/enable-mfa.ts';
import { startMfaSetup } from '../../../../../commands/identity/start-mfa-setup.ts';
import { getAdminUser } from '../../../../../queries/admins/get-admin-user.ts';
import { mfaStatus, mfaStatusView } from '../../../../../queries/admins/mfa-status.ts';
import { newBackupCodes } from '../../../../contexts/identity/backup-codes.ts';
import { tenantAdminAccounts } from '../../../../contexts/identity/account-kinds.ts';
import {
  beginMfaSetup,
  firstStepOf,
  makeBackupCodes,
  type MfaSetupDependencies,
} from '../../../../contexts/identity/mfa-setup.ts';
import { newTotpSecret, otpauthUrl, qrCode, totpCodeField } from '../../../../contexts/identity/totp.ts';
import { deleteSecretsIfRefused } from '../../../../platform/resources/secrets.ts';
import { admin, adminReauthenticated } from '../../access.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import type { Logger } from 'pino';
import type { Vault } from '../../../../platform/vault/vault.ts';
import type { Passwords } from '../../../../contexts/identity/passwords.ts';

export interface MfaRouteDependencies extends MfaSetupDependencies {
  readonly log: Logger;
  readonly vault: Vault;
  readonly passwords: Passwords;
}

const route = routeWith<MfaRouteDependencies>();

/** The calling admin's own second factor (choice OP-039). */
export const mfaRoutes: RouteGroup<MfaRouteDependencies> = {
  area: 'admin-me',
  routes: [
    route({
      method: 'GET',
      path: '/api/v1/admin/mfa/status',
      access: admin('self:read'),
      summary: 'Get the status of the second factor',
      description: 'Whether it is enabled, and the number of unused backup codes.',
      response: mfaStatusView,
      handle: ({ ask, principal }) => ask(mfaStatus, { adminId: principal.adminId }),
    }),
    route({
      method: 'POST',
      path: '/api/v1/admin/mfa/setup',
      access: adminReauthenticated('self:write'),
      summary: 'Start the set-up of a second factor',
      refuses: ['mfa_already_enabled'],
      description:
        'Returns the secret for an authenticator app, once. Sign-ins need it only after its first code was verified.',
      response: z.object({ secret: z.string(), otpauthUrl: z.string(), qrCode: z.string() }),
      handle: async ({ ask, run, recall, services, principal, fresh }) => {
        const { email } = await ask(getAdminUser, { adminId: principal.adminId });
        const secret = newTotpSecret((size) => fresh.bytes('totp secret', size));
        const earlier = await recall(startMfaSetup, { adminId: principal.adminId, totpSecretRef: '' });
        if (!earlier)
          await beginMfaSetup(services, tenantAdminAccounts, principal, secret, ({ adminId, totpSecretRef }) =>
            run(startMfaSetup, { adminId, totpSecretRef }),
          );
        const url = otpauthUrl(secret, email);
        return { secret, otpauthUrl: url, qrCode: await qrCode(url) };
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/admin/mfa/setup/verify',
      access: adminReauthenticated('self:write'),
      summary: 'Enable the second factor',
      operation: 'enableMfa',
      refuses: ['mfa_already_enabled', 'mfa_not_started'],
      description: 'Needs the first code of the authenticator app. Returns ten backup codes, once.',
      body: z.object({ code: totpCodeField }),
      response: z.object({ enabled: z.literal(true), backupCodes: z.array(z.string()) }),
      handle: async ({ body, run, recall, services, principal, fresh }) => {
        const { tenantId, adminId } = principal;
        // The code was valid in the first attempt, but no longer is.
        const earlier = await recall(enableMfa, {
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
        const { totpSecretRef, step } = await firstStepOf(services, tenantAdminAccounts, principal, body.code);
        const { codes, backupCodesRef } = await makeBackupCodes(services, tenantAdminAccounts, principal, fresh);
        await run(enableMfa, { adminId, totpSecretRef, step, backupCodesRef, backupCodes: codes.length }).catch(
          (error: unknown) => deleteSecretsIfRefused(services, tenantId, [backupCodesRef], error),
        );
        return { enabled: true, backupCodes: codes };
      },
    }),
    route({
      method: 'DELETE',
      path: '/api/v1/admin/mfa',
      access: adminReauthenticated('self:write'),
      summary: 'Disable the second factor',
      handle: async ({ run, principal: { adminId } }) => {
        await run(disableMfa, { adminId });
      },
    }),
  ],
};
