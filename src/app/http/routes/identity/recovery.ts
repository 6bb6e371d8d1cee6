import { z } from 'zod';
import { unlockLogin } from '../../../../../commands/identity/unlock-login.ts';
import { recoverOrgAdmin } from '../../../../../commands/organizations/recover-org-admin.ts';
import { recoverAdmin } from '../../../../../commands/identity/recover-admin.ts';
import { refuseRecovery } from '../../../../../commands/identity/refuse-recovery.ts';
import { emailField } from '../../../../contexts/identity/domain/password-rule.ts';
import { randomPassword } from '../../../../contexts/identity/passwords.ts';
import {
  isRecoveryKey,
  recoverableAccount,
  type RecoveryDependencies,
} from '../../../../contexts/identity/recovery.ts';
import { FailureError, invalid, notFound, unauthenticated } from '../../../../platform/kernel/failure.ts';
import { INSTALLATION } from '../../../../platform/kernel/ids.ts';
import { openAccessWhere } from '../../access.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { tenantOfHeader } from '../../tenant-header.ts';
import type { Config } from '../../../config/config.ts';
import type { Logger } from 'pino';
import type { Vault } from '../../../../platform/vault/vault.ts';

export interface RecoveryRouteDependencies extends RecoveryDependencies {
  readonly config: Pick<Config, 'recoveryKey'>;
  readonly log: Logger;
  readonly vault: Vault;
  accountDigest(email: string): string;
}

const route = routeWith<RecoveryRouteDependencies>();

const ADVICE = 'sign in with the temporary password within seven days and choose another';

/** Account recovery for an operator who has RECOVERY_KEY, in any state of the account (interface, "Recovery"). */
export const recoveryRoutes: RouteGroup<RecoveryRouteDependencies> = {
  area: 'recovery',
  routes: [
    route({
      method: 'POST',
      path: '/api/v1/recovery/reset',
      access: openAccessWhere(({ recoveryKey }) => recoveryKey !== undefined, 'recovery'),
      summary: 'Recover the account of an admin',
      operation: 'recoverAccount',
      takes: { 'X-Tenant-ID': 'optional' },
      refuses: ['invalid_credentials'],
      description:
        "For admins of tenants and organizations. Sets a temporary password (seven days), removes second factor and lock, ends all sessions, and lifts an organization's requirement of single sign-on. 404 unless RECOVERY_KEY is set.",
      body: z.object({ recoveryKey: z.string().min(1).max(1_024), email: emailField }),
      response: z.object({ success: z.literal(true), tempPassword: z.string(), message: z.string() }),
      handle: async ({ body, services, request, run }) => {
        const actor = { kind: 'system', id: null, ip: request.ip, userAgent: 'recovery' } as const;
        const refuse = async (reason: 'wrong_key' | 'unknown_account' | 'ambiguous_account') =>
          run(refuseRecovery, { reason }, { tenantId: INSTALLATION, actor });
        if (!isRecoveryKey(body.recoveryKey, services.config.recoveryKey!)) {
          await refuse('wrong_key');
          throw new FailureError(unauthenticated('invalid_credentials'));
        }
        const named = tenantOfHeader(request);
        const account = await recoverableAccount(services, body.email, named);
        if (typeof account === 'string') {
          await refuse(account);
          throw new FailureError(
            account === 'unknown_account'
              ? notFound()
              : invalid('X-Tenant-ID', 'is required: several tenants have an account for this e-mail'),
          );
        }
        const { tenantId, adminId, kind } = account;
        const accountDigest = services.accountDigest(body.email);
        const tempPassword = randomPassword();
        const behalf = { tenantId, actor };
        const recoverIt = async () => {
          if (kind === 'admin') {
            await run(recoverAdmin, { adminId, accountDigest, tempPassword }, behalf);
            return { liftedSso: false };
          }
          return (await run(recoverOrgAdmin, { adminId, tempPassword }, behalf)).result;
        };
        const { liftedSso } = await recoverIt();
        await run(unlockLogin, { accountDigest, subjectId: adminId }, behalf);
        return {
          success: true,
          tempPassword,
          message: ADVICE + (liftedSso ? '; the organization no longer requires single sign-on' : ''),
        };
      },
    }),
  ],
};
