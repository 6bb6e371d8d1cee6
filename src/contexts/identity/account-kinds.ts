import type { CodeOf } from '../../platform/kernel/error-codes.ts';
import { useBackupCode } from '../../../commands/identity/use-backup-code.ts';
import { useOrgBackupCode } from '../../../commands/organizations/use-org-backup-code.ts';
import type { AccountSecretLocations, AccountState } from './domain/account.ts';
import type { PresentedPlace } from './domain/mfa-decisions.ts';
import {
  organization,
  organizationStream,
  orgAdminSecretLocations,
  type OrgAdminState,
} from '../organizations/domain/organization.ts';
import { adminSecretLocations } from '../tenants/domain/admin.ts';
import { tenant, tenantStream, type AdminState } from '../tenants/domain/tenant.ts';
import type { ExecutionResult } from '../../platform/execution/execution-result.ts';
import type { ExecutionContext } from '../../platform/execution/execution-context.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { Failure } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { ReadModelName } from '../../platform/kernel/read-model-name.ts';
import { ORGANIZATIONS } from './known-browsers.ts';
import type { TokenPurpose } from './one-time-tokens.ts';
import type { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';
import type { CommandPorts } from '../../../commands/ports.ts';

export interface AccountKindsDependencies {
  readonly loader: AggregateLoader;
  readonly executor: Executor<CommandPorts>;
}

export type SignInAccount = AccountState & { readonly role: string };

interface PresentedBackupCode extends PresentedPlace {
  readonly adminId: string;
}

/**
 * The differences between administrators of a tenant and of an organization during sign-in. `tenantId` is the owner in
 * both cases.
 */
export interface AccountKind<A extends SignInAccount = SignInAccount> {
  readonly subjectKind: 'admin' | 'org_admin';
  /** Purposes of the tokens between sign-in steps. A token of one kind is not accepted by the other. */
  readonly purposes: { readonly mfa: TokenPurpose; readonly temp: TokenPurpose };
  readonly places: AccountSecretLocations;
  /** The scope under which browsers know the account. */
  scopeOf(tenantId: TenantId): string;
  find(services: AccountKindsDependencies, tenantId: TenantId, adminId: string): Promise<A | undefined>;
  /** The reason why passwords are not accepted at present; undefined if they are. */
  whyNoPasswords(services: AccountKindsDependencies, tenantId: TenantId): Promise<CodeOf<'forbidden'> | undefined>;
  useBackupCode(
    services: AccountKindsDependencies,
    input: PresentedBackupCode,
    execution: ExecutionContext,
  ): Promise<ExecutionResult<void> | Failure>;
  /** The read models that show how many backup codes remain. */
  readonly shownIn: readonly ReadModelName[];
}

export const tenantAdminAccounts: AccountKind<AdminState> = {
  subjectKind: 'admin',
  purposes: { mfa: 'mfa', temp: 'temp' },
  places: adminSecretLocations,
  scopeOf: (tenantId) => tenantId,
  find: async ({ loader }, tenantId, adminId) =>
    (await loader.load(tenant, tenantStream(tenantId))).admins.get(adminId),
  whyNoPasswords: () => Promise.resolve(undefined),
  useBackupCode: ({ executor }, input, execution) => executor.execute(useBackupCode, input, execution),
  shownIn: useBackupCode.freshens ?? [],
};

export const orgAdminAccounts: AccountKind<OrgAdminState> = {
  subjectKind: 'org_admin',
  purposes: { mfa: 'org-mfa', temp: 'org-temp' },
  places: orgAdminSecretLocations,
  // Accounts of organizations are found by e-mail alone.
  scopeOf: () => ORGANIZATIONS,
  find: async ({ loader }, tenantId, adminId) =>
    (await loader.load(organization, organizationStream(tenantId))).admins.get(adminId),
  whyNoPasswords: async ({ loader }, tenantId) =>
    (await loader.load(organization, organizationStream(tenantId))).requireSso ? 'sso_required' : undefined,
  useBackupCode: ({ executor }, input, execution) => executor.execute(useOrgBackupCode, input, execution),
  shownIn: useOrgBackupCode.freshens ?? [],
};
