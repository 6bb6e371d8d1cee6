import { emailField } from '../identity/domain/password-rule.ts';
import { SsoRefused } from '../identity/sso-sign-in.ts';
import type { OpenIdIdentity } from './openid-provider.ts';

export type PersonClaims = Readonly<Record<string, unknown>>;

/** What a provider says about an e-mail: verified, explicitly not verified, or nothing. */
type Statement = 'verified' | 'unverified' | 'none';

/** Entra ID sends `xms_edov` as a boolean or as text. */
const EDOV_TRUE: readonly unknown[] = [true, 'true', '1', 1];

/**
 * `email_verified` (Core 1.0 §5.1) is a boolean. Entra ID has `xms_edov` instead: the owner of the e-mail's domain was
 * verified. Any other value of either is no statement, except the text `false`.
 */
function statementOf({ email_verified: verified, xms_edov: domainOwnerVerified }: PersonClaims): Statement {
  if (verified === false || verified === 'false') return 'unverified';
  if (verified === true || EDOV_TRUE.includes(domainOwnerVerified)) return 'verified';
  return domainOwnerVerified === undefined ? 'none' : 'unverified';
}

/** True if the userinfo endpoint may know what the ID token does not say: the e-mail, or whether it is verified. */
export const isIncomplete = (claims: PersonClaims): boolean =>
  claims['email'] === undefined || statementOf(claims) === 'none';

/**
 * The claims of an ID token with what the userinfo endpoint says about its e-mail. About another e-mail it says nothing of use:
 * the signed one counts. Throws `SsoRefused`.
 */
export function withStatement(claims: PersonClaims, known: PersonClaims): PersonClaims {
  if (claims['email'] === undefined) return known;
  if (known['email'] === undefined) return claims;
  if (folded(known['email']) !== folded(claims['email'])) throw new SsoRefused('email_not_verified', 'two e-mails');
  return { ...known, email: claims['email'] };
}

const folded = (email: unknown): string => String(email).toLowerCase();

/**
 * The identity in the claims. `emailsVerified`: the configuration's owner vouches for e-mails about which the provider
 * says nothing; an e-mail that the provider calls unverified stays refused. Throws `SsoRefused`.
 */
export function identityOf(subject: string, claims: PersonClaims, emailsVerified: boolean): OpenIdIdentity {
  if (claims['email'] === undefined) throw new SsoRefused('email_not_verified', 'no e-mail');
  const email = emailField.safeParse(claims['email']);
  if (!email.success) throw new SsoRefused('email_not_verified', 'invalid e-mail');
  const statement = statementOf(claims);
  if (statement === 'unverified') throw new SsoRefused('email_not_verified', 'called unverified');
  if (statement === 'none' && !emailsVerified) throw new SsoRefused('email_not_verified', 'nothing said');
  return { subject, email: email.data };
}
