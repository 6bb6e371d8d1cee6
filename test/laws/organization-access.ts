/**
 * Who may use a route of the organization API, and whether it takes a single-use re-authentication token. Keyed by
 * address; the first matching line counts.
 */
export interface OrgRule {
  readonly roles: 'any' | readonly string[];
  readonly reauth: boolean;
  readonly because?: string;
}

const OWNER_WRITE: OrgRule = { roles: ['org_owner'], reauth: true };
const READ: OrgRule = { roles: 'any', reauth: false };

const EXCEPTIONS: Readonly<Record<string, OrgRule>> = {
  'POST /api/v1/org/verify-password': { roles: 'any', reauth: false, because: 'this is how the token is got' },
  'POST /api/v1/org/change-password': {
    roles: 'any',
    reauth: false,
    because: 'the current password in the request is the proof',
  },
  'PUT /api/v1/org/me': { roles: 'any', reauth: false, because: 'a display name gives no rights' },
  'GET /api/v1/org/admins': {
    roles: ['org_owner', 'org_admin'],
    reauth: false,
    because: 'names people; analysts and viewers of tenants do not read their list either',
  },
  'GET /api/v1/org/admins/{adminId}': { roles: ['org_owner', 'org_admin'], reauth: false, because: 'as above' },
  'POST /api/v1/org/mfa/setup': { roles: 'any', reauth: true, because: 'everybody has an account of their own' },
  'POST /api/v1/org/mfa/setup/verify': { roles: 'any', reauth: true, because: 'as above' },
  'DELETE /api/v1/org/mfa': { roles: 'any', reauth: true, because: 'as above' },
  'DELETE /api/v1/org/me/sessions': {
    roles: 'any',
    reauth: false,
    because: 'takes access away from whoever has a stolen session, and nothing may delay it',
  },
  'DELETE /api/v1/org/me/sessions/{sessionId}': { roles: 'any', reauth: false, because: 'as above' },
  'POST /api/v1/org/auth/sso/logout': { roles: 'any', reauth: false, because: 'ends the own session' },
  'GET /api/v1/org/audit-log': {
    roles: ['org_owner', 'org_admin'],
    reauth: false,
    because: 'names who did what from where; viewers of tenants do not read theirs either',
  },
  'GET /api/v1/org/audit-log/verify': { roles: ['org_owner', 'org_admin'], reauth: false, because: 'as above' },
  'POST /api/v1/org/sso-configs/test': { roles: ['org_owner'], reauth: false, because: 'stores nothing' },
  'POST /api/v1/org/tenants/{tenantId}/sso-configs/test': {
    roles: ['org_owner'],
    reauth: false,
    because: 'stores nothing',
  },
};

export const orgExceptions: readonly string[] = Object.keys(EXCEPTIONS);
export const orgRuleOf = (method: string, name: string): OrgRule =>
  EXCEPTIONS[name] ?? (method === 'GET' ? READ : OWNER_WRITE);
