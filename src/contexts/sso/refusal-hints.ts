/**
 * What the sign-in page may say beside the reason of a refusal, by the detail of the audit log. Everything else stays
 * in the audit log: the page is shown to people who are not signed in.
 */
const HINTS: ReadonlyMap<string, string> = new Map([
  ['unreachable', 'unreachable'],
  ['too many requests', 'too_many'],
  ['unexpected response', 'unreachable'],
  ['the address is not public', 'unreachable'],
  ['untrusted certificate', 'unreachable'],
  ['expired certificate', 'unreachable'],
  ['certificate not valid yet', 'unreachable'],
  ['certificate of another name', 'unreachable'],
  ['discovery', 'discovery'],
  ['another issuer', 'discovery'],
  ['invalid_client', 'client'],
  ['unauthorized_client', 'client'],
  ['no e-mail', 'no_email'],
  ['no single e-mail', 'no_email'],
  ['nothing said', 'not_stated'],
  ['access_denied', 'denied'],
  // Claims of an ID token, and checks of a SAML response.
  ['exp', 'clock'],
  ['nbf', 'clock'],
  ['iat', 'clock'],
  ['expired', 'clock'],
  ['not_yet_valid', 'clock'],
]);

/** Every hint that there is: the sign-in page has words for each. */
export const publicHints: readonly string[] = [...new Set(HINTS.values())];

/** A short identifier for the sign-in page; undefined if the detail is not for it. */
export const publicHint = (detail: string | null): string | undefined =>
  detail === null ? undefined : HINTS.get(detail);
