import type { Logger } from 'pino';
import { z } from 'zod';
import type { CommandPorts } from '../../../../../commands/ports.ts';
import { mfaStatusView } from '../../../../../queries/admins/mfa-status.ts';
import type { AccountKind, SignInAccount } from '../../../../contexts/identity/account-kinds.ts';
import { newBackupCodes } from '../../../../contexts/identity/backup-codes.ts';
import {
  beginMfaSetup,
  firstStepOf,
  makeBackupCodes,
  type MfaSetupDependencies,
} from '../../../../contexts/identity/mfa-setup.ts';
import type { Passwords } from '../../../../contexts/identity/passwords.ts';
import { newTotpSecret, otpauthUrl, qrCode, totpCodeField } from '../../../../contexts/identity/totp.ts';
import type { Command } from '../../../../platform/kernel/command.ts';
import type { DomainEvent } from '../../../../platform/kernel/event.ts';
import type { Query } from '../../../../platform/kernel/query.ts';
import { deleteSecretsIfRefused } from '../../../../platform/resources/secrets.ts';
import type { Vault } from '../../../../platform/vault/vault.ts';
import type { Access } from '../../access.ts';
import { routeWith, type AnyRoute } from '../../route.ts';

export interface MfaRouteDependencies extends MfaSetupDependencies {
  readonly log: Logger;
  readonly vault: Vault;
  readonly passwords: Passwords;
}

const route = routeWith<MfaRouteDependencies>();

interface Self {
  readonly adminId: string;
}
interface Setup extends Self {
  readonly totpSecretRef: string;
}
interface Enabling extends Setup {
  readonly step: number;
  readonly backupCodesRef: string;
  readonly backupCodes: number;
}
type AccountAccess = Extract<Access, { kind: 'admin' | 'org' }>;

/** What differs between the second factor of a tenant's and of an organization's administrator. */
interface AccountMfa<A extends SignInAccount, State, E extends DomainEvent> {
  readonly accounts: AccountKind<A>;
  readonly path: string;
  readonly access: { readonly read: AccountAccess; readonly change: AccountAccess };
  readonly status: Query<Self, z.output<typeof mfaStatusView>>;
  readonly account: Query<Self, { readonly email: string }>;
  readonly start: Command<Setup, State, E, CommandPorts, undefined, void>;
  readonly enable: Command<Enabling, State, E, CommandPorts, undefined, void>;
  readonly disable: Command<Self, State, E, CommandPorts, undefined, void>;
  /** The operation's name of the last step of the set-up. */
  readonly enableOperation: string;
}

/** The second factor of the calling account (OP-039). */
export const accountMfaRoutes = <A extends SignInAccount, State, E extends DomainEvent>({
  accounts,
  path,
  access,
  status,
  account,
  start,
  enable,
  disable,
  enableOperation,
}: AccountMfa<A, State, E>): readonly AnyRoute<MfaRouteDependencies>[] => [
  route({
    method: 'GET',
    path: `${path}/status`,
    access: access.read,
    summary: 'Get the status of the second factor',
    description: 'Whether it is enabled, and the number of unused backup codes.',
    response: mfaStatusView,
    handle: ({ ask, principal: { adminId } }) => ask(status, { adminId }),
  }),
  route({
    method: 'POST',
    path: `${path}/setup`,
    access: access.change,
    summary: 'Start the set-up of a second factor',
    refuses: ['mfa_already_enabled'],
    description:
      'Returns the secret for an authenticator app, once. Sign-ins need it only after its first code was verified.',
    response: z.object({ secret: z.string(), otpauthUrl: z.string(), qrCode: z.string() }),
    handle: async ({ ask, run, recall, services, principal, fresh }) => {
      const { email } = await ask(account, { adminId: principal.adminId });
      const secret = newTotpSecret((size) => fresh.bytes('totp secret', size));
      const earlier = await recall(start, { adminId: principal.adminId, totpSecretRef: '' });
      if (!earlier)
        await beginMfaSetup(services, accounts, principal, secret, ({ adminId, totpSecretRef }) =>
          run(start, { adminId, totpSecretRef }),
        );
      const url = otpauthUrl(secret, email);
      return { secret, otpauthUrl: url, qrCode: await qrCode(url) };
    },
  }),
  route({
    method: 'POST',
    path: `${path}/setup/verify`,
    access: access.change,
    summary: 'Enable the second factor',
    operation: enableOperation,
    refuses: ['mfa_already_enabled', 'mfa_not_started', 'mfa_restarted'],
    description: 'Needs the first code of the authenticator app. Returns ten backup codes, once.',
    body: z.object({ code: totpCodeField }),
    response: z.object({ enabled: z.literal(true), backupCodes: z.array(z.string()) }),
    handle: async ({ body, run, recall, services, principal, fresh }) => {
      const { tenantId, adminId } = principal;
      // The code was valid in the first attempt, but no longer is.
      const unknown = { adminId, totpSecretRef: '', step: 0, backupCodesRef: '', backupCodes: 0 };
      if (await recall(enable, unknown)) {
        const { codes } = await newBackupCodes(services.passwords, fresh.integers('backup codes'));
        return { enabled: true, backupCodes: codes };
      }
      const { totpSecretRef, step } = await firstStepOf(services, accounts, principal, body.code);
      const { codes, backupCodesRef } = await makeBackupCodes(services, accounts, principal, fresh);
      await run(enable, { adminId, totpSecretRef, step, backupCodesRef, backupCodes: codes.length }).catch(
        (error: unknown) => deleteSecretsIfRefused(services, tenantId, [backupCodesRef], error),
      );
      return { enabled: true, backupCodes: codes };
    },
  }),
  route({
    method: 'DELETE',
    path,
    access: access.change,
    summary: 'Disable the second factor',
    handle: async ({ run, principal: { adminId } }) => {
      await run(disable, { adminId });
    },
  }),
];
