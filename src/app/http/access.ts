import type { Config } from '../config/config.ts';
import type { OrgRole } from '../../contexts/identity/domain/roles.ts';
import type { ScimScope } from '../../contexts/scim/domain/client-events.ts';
import type { Permission } from '../../contexts/identity/domain/permissions.ts';

/** The rate limit that a request counts against, before authentication (choice OP-215). */
export type RateClass =
  | 'admin'
  | 'login'
  | 'sso'
  | 'session'
  | 'setup'
  | 'org-login'
  | 'recovery'
  | 'oauth'
  | 'scim'
  | 'enroll'
  | 'device'
  | 'description'
  | 'reference'
  | 'none';

/** The settings that decide whether a route exists. */
export type OfferingSettings = Pick<Config, 'recoveryKey' | 'devMode'>;

/** Who may call a route. Every route must declare it. */
export type Access =
  /** No credential, or one that the handler checks itself (a password, an enrollment token). */
  | { readonly kind: 'open'; readonly rate: RateClass; readonly offered?: (settings: OfferingSettings) => boolean }
  /**
   * A tenant admin's session with a permission. `unlicensed`: also allowed after the license expired (choice OP-052).
   * `reauth`: also needs a re-authentication token of this session (choice OP-025). `reauthWhere`: the command decides
   * whether it needs one; the text names the condition. See `docs/decisions/0025-step-up-authentication.md`.
   */
  | {
      readonly kind: 'admin';
      readonly permission: Permission;
      readonly unlicensed: boolean;
      readonly reauth?: true;
      readonly reauthWhere?: string;
    }
  /**
   * An org admin's session. Writes need the role `org_owner` (any role for the caller's own account), then a single-use
   * re-authentication token. `itsTenant`: the path's `tenantId` must be a tenant of the organization.
   */
  | {
      readonly kind: 'org';
      readonly roles: readonly OrgRole[] | 'any';
      readonly reauth: boolean;
      readonly itsTenant?: true;
    }
  /**
   * A device certificate. `orAgentKey`: or the access key of an agent that enrolled by itself (choice OP-173).
   * `evenToBeWiped`: also while a wipe is pending after the device's user became inactive. `confirmsWipe`: then, and
   * after the wipe has ended, only to report that it is completed.
   */
  | {
      readonly kind: 'device';
      readonly orAgentKey: boolean;
      readonly evenToBeWiped: boolean;
      readonly confirmsWipe?: true;
    }
  /** An access token of a SCIM client with this scope. */
  | { readonly kind: 'scim'; readonly scope: ScimScope };

type AccessOf<Kind extends Access['kind']> = Extract<Access, { kind: Kind }>;

export const openAccess = (rate: RateClass): AccessOf<'open'> => ({ kind: 'open', rate });
/** Like `openAccess`, but 404 for every request if the installation is not configured for the route. */
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
/** `condition` completes "Required if …" in the API description. */
export const adminReauthenticatedWhere = (permission: Permission, condition: string): AccessOf<'admin'> => ({
  kind: 'admin',
  permission,
  unlicensed: false,
  reauthWhere: condition,
});
export const orgReader: AccessOf<'org'> = { kind: 'org', roles: 'any', reauth: false };
/** For changes to the caller's own account: any role, with re-authentication. */
export const orgSelfReauthenticated: AccessOf<'org'> = { kind: 'org', roles: 'any', reauth: true };
export const orgAdministration: AccessOf<'org'> = { kind: 'org', roles: ['org_owner', 'org_admin'], reauth: false };
export const orgOwner: AccessOf<'org'> = { kind: 'org', roles: ['org_owner'], reauth: false };
export const orgOwnerReauthenticated: AccessOf<'org'> = { kind: 'org', roles: ['org_owner'], reauth: true };
export const orgManagingTenant = (access: AccessOf<'org'>): AccessOf<'org'> => ({ ...access, itsTenant: true });
export const deviceAccess: AccessOf<'device'> = { kind: 'device', orAgentKey: false, evenToBeWiped: false };
/** For telemetry, which contains the report that a wipe is completed. */
export const reportingDeviceAccess: AccessOf<'device'> = { ...deviceAccess, evenToBeWiped: true, confirmsWipe: true };
/** For the heartbeat, which tells a device to wipe itself. */
export const deviceOrAgentAccess: AccessOf<'device'> = { kind: 'device', orAgentKey: true, evenToBeWiped: true };
export const scimReader: AccessOf<'scim'> = { kind: 'scim', scope: 'scim:read' };
export const scimWriter: AccessOf<'scim'> = { kind: 'scim', scope: 'scim:write' };

export const rateClassOf = (access: Access): RateClass => {
  if (access.kind === 'open') return access.rate;
  return access.kind === 'device' || access.kind === 'scim' ? access.kind : 'admin';
};
