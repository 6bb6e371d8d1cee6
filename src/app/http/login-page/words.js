/** Refusals in the words of a person who wants to get in. */
const REFUSALS = new Map([
  ['invalid credentials', 'This e-mail and password do not match. Check both and try again.'],
  [
    'account locked',
    'This account is locked after too many wrong attempts. Wait a quarter of an hour, then try again.',
  ],
  [
    'temporary password expired',
    'This temporary password has expired. Ask another administrator for a new one, or for an organization whoever operates this installation.',
  ],
  ['account suspended', 'This account is suspended. Another administrator can reinstate it.'],
  [
    'sso required',
    'Your organization signs in through its identity provider only, and none is known for this e-mail. Open the sign-in link of your organization, or ask its owner.',
  ],
  ['invalid or expired token', 'This took too long, or was done already. Sign in again from the start.'],
  ['invalid or expired code', 'This sign-in was used already or took too long. Start it again.'],
  ['invalid code', 'This code is not right, or was used before. Wait for the next one and try again.'],
]);

export const MUST_USE_PROVIDER = 'Your organization signs in through its identity provider only. Continue there.';

/** Why an identity provider's answer led to nobody (choice OP-150). */
const SSO_ERRORS = new Map([
  ['invalid_state', 'The sign-in took too long or was not started here. Start it again.'],
  ['idp_error', 'The identity provider did not sign you in.'],
  ['token_exchange_failed', 'The identity provider could not confirm your sign-in. Try again in a moment.'],
  [
    'invalid_assertion',
    "The identity provider's answer could not be trusted. Tell your administrator if this happens again.",
  ],
  [
    'email_missing',
    'The identity provider did not say what your e-mail address is. Your administrator can choose the attribute that holds it.',
  ],
  ['email_not_verified', 'The identity provider has not verified your e-mail address.'],
  [
    'account_not_found',
    'You are known to the identity provider, but there is no administrator account with your e-mail address here.',
  ],
  ['account_disabled', 'Your account here is suspended. Another administrator can reinstate it.'],
  ['busy', 'Many people are signing in at this moment. Try again in a minute.'],
  ['sso_not_configured', 'Single sign-on is not set up here.'],
]);

/** What is known beside the reason; more precise than the words for the reason alone. */
const SSO_HINTS = new Map([
  ['unreachable', 'The identity provider cannot be reached at the moment. Try again later.'],
  ['too_many', 'The identity provider has too many requests at the moment. Wait a minute, then try again.'],
  [
    'discovery',
    'The identity provider does not describe itself as this service expects. Tell your administrator: the issuer URL may be wrong.',
  ],
  [
    'client',
    'The identity provider refuses this service. Tell your administrator: the client secret may be wrong or expired.',
  ],
  ['no_email', 'The identity provider sent no e-mail address for you. Tell your administrator.'],
  [
    'not_stated',
    'The identity provider does not say whether your e-mail address is verified. Tell your administrator: the setting “emailsVerified” is for that.',
  ],
  [
    'denied',
    'The identity provider did not let you in. If you did not cancel, ask your administrator whether this service is assigned to you there.',
  ],
  [
    'clock',
    'The identity provider’s answer is too old, or from the future. Start again; if this stays, tell your administrator to compare the clocks.',
  ],
]);

export const ssoError = (reason, hint) =>
  SSO_HINTS.get(hint) ?? SSO_ERRORS.get(reason) ?? 'Single sign-on did not work. Start it again.';

/** `fallback` says what was wrong where the server only says that it was. */
export function refusal({ status, body, retryAfter }, fallback) {
  if (status === 0) return 'The server cannot be reached. Check your connection and try again.';
  if (status === 429) return `Too many attempts. Try again in ${retryAfter > 0 ? seconds(retryAfter) : 'a minute'}.`;
  if (status >= 500) return 'Something went wrong on the server. Try again in a moment.';
  return REFUSALS.get(body.error) ?? fieldRefusal(body.error) ?? fallback;
}

const seconds = (count) =>
  count === 1 ? 'a second' : count > 90 ? `${Math.ceil(count / 60)} minutes` : `${count} seconds`;

const FIELDS = new Map([
  ['email', 'The e-mail'],
  ['password', 'The password'],
  ['newPassword', 'The new password'],
  ['confirmPassword', 'The repeated password'],
  ['code', 'The code'],
  ['backupCode', 'The backup code'],
  ['tenantId', 'The tenant ID'],
  ['X-Tenant-ID', 'The tenant ID'],
]);

/** "validation failed: newPassword: must contain a digit" -> "The new password must contain a digit." */
function fieldRefusal(error) {
  const [, field, reason] = /^validation failed: ([\w-]+): (.+)$/.exec(error ?? '') ?? [];
  return field && FIELDS.has(field) ? `${FIELDS.get(field)} ${reason}.` : undefined;
}

const ROLES = new Map([
  ['super_admin', 'Super administrator'],
  ['admin', 'Administrator'],
  ['analyst', 'Analyst'],
  ['viewer', 'Viewer'],
  ['org_owner', 'Organization owner'],
  ['org_admin', 'Organization administrator'],
  ['org_viewer', 'Organization viewer'],
]);
export const roleName = (role) => ROLES.get(role) ?? role;
