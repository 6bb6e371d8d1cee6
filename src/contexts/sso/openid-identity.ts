import { emailField } from '../identity/domain/password-rule.ts';
import { SsoRefused } from '../identity/sso-sign-in.ts';
import type { OpenIdIdentity } from './openid-provider.ts';

export type PersonClaims = Readonly<Record<string, unknown>>;

/** What a provider says about an e-mail: verified, explicitly not verified, or nothing. */
type Statement = 'verified' | 'unverified' | 'none';

/** A boolean. Some providers (Amazon Cognito, Entra ID) send it as text or as a number. */
const isTrue = (value: unknown): boolean =>
  ['boolean', 'number', 'string'].includes(typeof value) && ['true', '1'].includes(String(value).toLowerCase());

/**
 * `email_verified` (Core 1.0 §5.1), or else `xms_edov` of Entra ID: the owner of the e-mail's domain was verified. Whatever is
 * stated and is not true says no: providers have many words for that (decision 0194).
 */
function statementOf({ email_verified: verified, xms_edov: domainOwnerVerified }: PersonClaims): Statement {
  const stated = verified ?? domainOwnerVerified;
  if (stated === undefined) return 'none';
  return isTrue(stated) ? 'verified' : 'unverified';
}

/** A claim that is null says as little as one that is left out (Core 1.0 §5.3.2). */
export const namesEmail = ({ email }: PersonClaims): boolean => email !== undefined && email !== null;

/** True if the userinfo endpoint may know what the ID token does not say: the e-mail, or whether it is verified. */
export const isIncomplete = (claims: PersonClaims): boolean => !namesEmail(claims) || statementOf(claims) === 'none';

/**
 * The claims of an ID token with what the userinfo endpoint says about its e-mail. About another e-mail it says nothing of use:
 * the signed one counts. A no of either counts, also one without an e-mail. Throws `SsoRefused`.
 */
export function withStatement(claims: PersonClaims, known: PersonClaims): PersonClaims {
  const isDenied = [claims, known].some((said) => statementOf(said) === 'unverified');
  const denied = isDenied ? { email_verified: false } : {};
  if (!namesEmail(claims)) return { ...known, ...denied };
  if (!namesEmail(known)) return { ...claims, ...denied };
  if (folded(known['email']) !== folded(claims['email'])) throw new SsoRefused('email_not_verified', 'two e-mails');
  return { ...known, email: claims['email'], ...denied };
}

const folded = (email: unknown): string => String(email).toLowerCase();

/**
 * The identity in the claims. `emailsVerified`: the configuration's owner vouches for e-mails about which the provider
 * says nothing; an e-mail that the provider calls unverified stays refused. Throws `SsoRefused`.
 */
export function identityOf(subject: string, claims: PersonClaims, emailsVerified: boolean): OpenIdIdentity {
  if (!namesEmail(claims)) throw new SsoRefused('email_not_verified', 'no e-mail');
  const email = emailField.safeParse(claims['email']);
  if (!email.success) throw new SsoRefused('email_not_verified', 'invalid e-mail');
  const statement = statementOf(claims);
  if (statement === 'unverified') throw new SsoRefused('email_not_verified', 'called unverified');
  if (statement === 'none' && !emailsVerified) throw new SsoRefused('email_not_verified', 'nothing said');
  return { subject, email: email.data };
}
