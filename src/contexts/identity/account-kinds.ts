import { useBackupCode } from '../../../commands/identity/use-backup-code.ts';
import { useOrgBackupCode } from '../../../commands/organizations/use-org-backup-code.ts';
import type { AccountPlaces, AccountState } from './domain/account.ts';
import {
  organization,
  organizationStream,
  orgAdminPlaces,
  type OrgAdminState,
} from '../organizations/domain/organization.ts';
import { adminPlaces } from '../tenants/domain/admin.ts';
import { tenant, tenantStream, type AdminState } from '../tenants/domain/tenant.ts';
import type { Executed, Issuer, Executor } from '../../platform/execution/executor.ts';
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

interface PresentedBackupCode {
  readonly adminId: string;
  readonly backupCodesRef: string;
  readonly place: number;
}

/** What differs between an administrator of a tenant and one of an organization, as far as signing in goes. `tenantId` is the owner of either. */
export interface AccountKind<A extends SignInAccount = SignInAccount> {
  readonly subjectKind: 'admin' | 'org_admin';
  /** Tokens between the steps of a sign-in: those of one kind are worth nothing to the other. */
  readonly purposes: { readonly mfa: TokenPurpose; readonly temp: TokenPurpose };
  readonly places: AccountPlaces;
  /** Under which name browsers know the account. */
  scopeOf(tenantId: TenantId): string;
  find(services: AccountKindsDependencies, tenantId: TenantId, adminId: string): Promise<A | undefined>;
  /** Why passwords let in nobody at present; undefined where they do. */
  whyNoPasswords(services: AccountKindsDependencies, tenantId: TenantId): Promise<string | undefined>;
  useBackupCode(
    services: AccountKindsDependencies,
    input: PresentedBackupCode,
    issuer: Issuer,
  ): Promise<Executed<void> | Failure>;
  /** The read models that show how many backup codes are left. */
  readonly shownIn: readonly ReadModelName[];
}

export const tenantAdmins: AccountKind<AdminState> = {
  subjectKind: 'admin',
  purposes: { mfa: 'mfa', temp: 'temp' },
  places: adminPlaces,
  scopeOf: (tenantId) => tenantId,
  find: async ({ loader }, tenantId, adminId) =>
    (await loader.load(tenant, tenantStream(tenantId))).admins.get(adminId),
  whyNoPasswords: () => Promise.resolve(undefined),
  useBackupCode: ({ executor }, input, issuer) => executor.execute(useBackupCode, input, issuer),
  shownIn: useBackupCode.freshens ?? [],
};

export const orgAdmins: AccountKind<OrgAdminState> = {
  subjectKind: 'org_admin',
  purposes: { mfa: 'org-mfa', temp: 'org-temp' },
  places: orgAdminPlaces,
  // Accounts of organizations are found by e-mail alone.
  scopeOf: () => ORGANIZATIONS,
  find: async ({ loader }, tenantId, adminId) =>
    (await loader.load(organization, organizationStream(tenantId))).admins.get(adminId),
  whyNoPasswords: async ({ loader }, tenantId) =>
    (await loader.load(organization, organizationStream(tenantId))).requireSso ? 'sso required' : undefined,
  useBackupCode: ({ executor }, input, issuer) => executor.execute(useOrgBackupCode, input, issuer),
  shownIn: useOrgBackupCode.freshens ?? [],
};
