import type { Config } from '../config/config.ts';
import type { OrgRole } from '../../contexts/identity/domain/roles.ts';
import type { Permission } from '../../contexts/identity/domain/permissions.ts';

/** Which budget a request is counted against, before authentication (choice OP-215). */
export type RateClass =
  'admin' | 'login' | 'session' | 'setup' | 'org-login' | 'recovery' | 'oauth' | 'scim' | 'enroll' | 'device' | 'none';

/** The settings that decide whether a route is offered. */
export type OfferingSettings = Pick<Config, 'recoveryKey' | 'devMode'>;

/** Who may call a route. A route without one does not compile. */
export type Access =
  /** No credential, or one that the handler checks itself (a password, an enrollment token). */
  | { readonly kind: 'open'; readonly rate: RateClass; readonly offered?: (settings: OfferingSettings) => boolean }
  /**
   * A tenant admin's session and a permission. `unlicensed`: also where the license has run out (choice OP-052). `reauth`:
   * with a re-authentication token of this session besides (choice OP-025). `reauthWhere`: the command decides whether it
   * needs one; the text names the condition. Which routes ask for it: `docs/decisions/0025-step-up-authentication.md`.
   */
  | {
      readonly kind: 'admin';
      readonly permission: Permission;
      readonly unlicensed: boolean;
      readonly reauth?: true;
      readonly reauthWhere?: string;
    }
  /**
   * An org admin's session; writes need `org_owner` (one's own account: any role) and a single-use re-authentication token, in this order. `itsTenant`:
   * then the path's `tenantId` has to be a tenant of the organization.
   */
  | {
      readonly kind: 'org';
      readonly roles: readonly OrgRole[] | 'any';
      readonly reauth: boolean;
      readonly itsTenant?: true;
    }
  /**
   * A device certificate. `orAgentKey`: or the access key of an agent that enrolled by itself (choice OP-173). `evenToBeWiped`:
   * also where the device's user has become inactive, as long as a wipe is pending.
   */
  | { readonly kind: 'device'; readonly orAgentKey: boolean; readonly evenToBeWiped: boolean };

type AccessOf<Kind extends Access['kind']> = Extract<Access, { kind: Kind }>;

export const openAccess = (rate: RateClass): AccessOf<'open'> => ({ kind: 'open', rate });
/** As `openAccess`, where the installation is configured for it; elsewhere there is no such route: 404, whatever is sent. */
export const openAccessWhere = (
  offered: (settings: OfferingSettings) => boolean,
  rate: RateClass,
): AccessOf<'open'> => ({
  kind: 'open',
  rate,
  offered,
});
export const admin = (permission: Permission): AccessOf<'admin'> => ({ kind: 'admin', permission, unlicensed: false });
export const adminEvenUnlicensed = (permission: Permission): AccessOf<'admin'> => ({
  kind: 'admin',
  permission,
  unlicensed: true,
});
export const adminReauthenticated = (permission: Permission): AccessOf<'admin'> => ({
  kind: 'admin',
  permission,
  unlicensed: false,
  reauth: true,
});
/** `condition` completes "needed where …" in the API description. */
export const adminReauthenticatedWhere = (permission: Permission, condition: string): AccessOf<'admin'> => ({
  kind: 'admin',
  permission,
  unlicensed: false,
  reauthWhere: condition,
});
export const orgReader: AccessOf<'org'> = { kind: 'org', roles: 'any', reauth: false };
/** What changes one's own account: whoever has one, with a proof that it is theirs. */
export const orgSelfReauthenticated: AccessOf<'org'> = { kind: 'org', roles: 'any', reauth: true };
export const orgAdministration: AccessOf<'org'> = { kind: 'org', roles: ['org_owner', 'org_admin'], reauth: false };
export const orgOwner: AccessOf<'org'> = { kind: 'org', roles: ['org_owner'], reauth: false };
export const orgOwnerReauthenticated: AccessOf<'org'> = { kind: 'org', roles: ['org_owner'], reauth: true };
export const orgManagingTenant = (access: AccessOf<'org'>): AccessOf<'org'> => ({ ...access, itsTenant: true });
export const deviceAccess: AccessOf<'device'> = { kind: 'device', orAgentKey: false, evenToBeWiped: false };
/** The heartbeat's: it tells a device that it has to wipe itself. */
export const deviceOrAgentAccess: AccessOf<'device'> = { kind: 'device', orAgentKey: true, evenToBeWiped: true };

export const rateClassOf = (access: Access): RateClass => {
  if (access.kind === 'open') return access.rate;
  return access.kind === 'device' ? 'device' : 'admin';
};
