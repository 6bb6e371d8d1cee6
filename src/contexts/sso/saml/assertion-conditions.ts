import { instantIn } from './instant.ts';
import { refuseSaml, SamlRefused } from './refused.ts';
import { succeeded } from './status.ts';
import { attribute, childrenOf, elementsIn, onlyChild, SAML, type XmlElement } from './xml.ts';

/** The values that a response has to match (SAML Profiles §4.1.4.3). */
export interface Expected {
  readonly idpEntityId: string;
  readonly spEntityId: string;
  readonly acsUrl: string;
  /** The id of the AuthnRequest that the response belongs to. */
  readonly requestId: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /**
   * Epoch milliseconds before which the user must not have authenticated, by a clock that is right; undefined for no limit.
   */
  readonly authenticatedSince?: number | undefined;
}

/** How far the provider's clock may be behind. */
const SKEW_MS = 60_000;
/** How far it may be ahead. That lengthens no validity, so it can be more. */
const AHEAD_MS = 3 * 60_000;
/**
 * A confirmation that is valid for longer does not belong to a sign-in. LemonLDAP::NG's default is 20 hours. The
 * request is open for ten minutes and takes one response, so a long confirmation is no second chance.
 */
const LONGEST_CONFIRMATION_MS = 23 * 60 * 60_000;
const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';

/** Checks the envelope, which need not be signed, for contradictions to the expected values. Throws `SamlRefused`. */
export function checkResponse(
  response: XmlElement,
  { idpEntityId, acsUrl, requestId }: Expected,
  isSigned: boolean,
): void {
  if (!succeeded(response)) refuseSaml('status', 'the provider reports no success');
  if (attribute(response, 'Version') !== '2.0') refuseSaml('structure', 'the version is not 2.0');
  // Bindings §3.5.5.2 asks for a destination in signed messages. The assertion names its recipient in any case.
  const destination = attribute(response, 'Destination');
  if (destination === undefined ? isSigned : destination !== acsUrl)
    refuseSaml('destination', 'the response has another destination');
  if (attribute(response, 'InResponseTo') !== requestId)
    refuseSaml('not_requested', 'the response is for another request');
  const issuer = onlyChild(response, SAML, 'Issuer');
  if (issuer && text(issuer) !== idpEntityId) refuseSaml('issuer', 'the response has another issuer');
}

/**
 * Checks the signed assertion: from this provider, for this service, valid now, for this request. Returns when it ends,
 * and until when the session at the provider lasts, if it says so. Throws `SamlRefused`.
 */
export function checkAssertion(
  assertion: XmlElement,
  expected: Expected,
): { readonly endsAt: number; readonly until: number | undefined } {
  if (attribute(assertion, 'Version') !== '2.0') refuseSaml('structure', 'the version is not 2.0');
  if (text(one(assertion, 'Issuer')) !== expected.idpEntityId) refuseSaml('issuer', 'the assertion has another issuer');
  checkConditions(one(assertion, 'Conditions'), expected);
  const until = checkStatements(assertion, expected);
  return { until, endsAt: checkConfirmations(one(assertion, 'Subject'), expected) };
}

function checkConditions(conditions: XmlElement, { spEntityId, now }: Expected): void {
  checkWindow(conditions, now);
  const known = new Set(['AudienceRestriction', 'OneTimeUse', 'ProxyRestriction']);
  // Core §2.5.1: with an unknown condition, the assertion's validity cannot be determined.
  if (elementsIn(conditions).some(({ localName }) => !known.has(localName)))
    refuseSaml('audience', 'the assertion has an unknown condition');
  // Core §2.5.1.4: one of a restriction's audiences suffices, but every restriction has to hold.
  const restrictions = childrenOf(conditions, SAML, 'AudienceRestriction');
  const isForUs = (restriction: XmlElement) =>
    childrenOf(restriction, SAML, 'Audience').some((audience) => text(audience) === spEntityId);
  if (restrictions.length === 0 || !restrictions.every(isForUs))
    refuseSaml('audience', 'the assertion has another audience');
}

function checkStatements(assertion: XmlElement, { now, authenticatedSince }: Expected): number | undefined {
  // By a clock that is ahead an old authentication is a recent one: then the assertion itself says how old it is.
  const since = authenticatedSince && authenticatedSince + Math.max(0, instantIn(assertion, 'IssueInstant') - now);
  const statements = childrenOf(assertion, SAML, 'AuthnStatement');
  if (statements.length === 0) refuseSaml('structure', 'there is no AuthnStatement');
  let until: number | undefined;
  for (const statement of statements) {
    const authenticatedAt = instantIn(statement, 'AuthnInstant');
    if (authenticatedAt > now + AHEAD_MS) refuseSaml('not_yet_valid', 'the sign-in is in the future');
    // A tolerance would lengthen what a proof is good for (decision 0083).
    if (since !== undefined && authenticatedAt < since) refuseSaml('expired', 'signed in too long ago');
    if (!statement.hasAttribute('SessionNotOnOrAfter')) continue;
    const endsAt = instantIn(statement, 'SessionNotOnOrAfter') + SKEW_MS;
    if (endsAt <= now) refuseSaml('expired', "the provider's session is over");
    until = Math.min(endsAt, until ?? endsAt);
  }
  return until;
}

/** One confirmation has to hold (Core §2.4.1.1): the others are for other uses of the assertion. */
function checkConfirmations(subject: XmlElement, expected: Expected): number {
  const confirmations = childrenOf(subject, SAML, 'SubjectConfirmation');
  let refusal = new SamlRefused('structure', 'SubjectConfirmation is missing');
  for (const confirmation of confirmations) {
    try {
      return checkConfirmation(confirmation, expected);
    } catch (error) {
      if (!(error instanceof SamlRefused)) throw error;
      refusal = error;
    }
  }
  throw refusal;
}

function checkConfirmation(confirmation: XmlElement, { acsUrl, requestId, now }: Expected): number {
  if (attribute(confirmation, 'Method') !== BEARER)
    refuseSaml('structure', 'the subject confirmation is not of the bearer method');
  const data = one(confirmation, 'SubjectConfirmationData');
  if (attribute(data, 'Recipient') !== acsUrl) refuseSaml('recipient', 'the assertion has another recipient');
  if (attribute(data, 'InResponseTo') !== requestId)
    refuseSaml('not_requested', 'the assertion is for another request');
  if (!data.hasAttribute('NotOnOrAfter')) refuseSaml('expired', 'the confirmation has no end');
  checkWindow(data, now);
  const endsAt = instantIn(data, 'NotOnOrAfter');
  if (endsAt > now + LONGEST_CONFIRMATION_MS) refuseSaml('expired', 'the confirmation lasts too long');
  return endsAt + SKEW_MS;
}

function checkWindow(element: XmlElement, now: number): void {
  if (element.hasAttribute('NotBefore') && instantIn(element, 'NotBefore') > now + AHEAD_MS)
    refuseSaml('not_yet_valid', 'not valid yet');
  if (element.hasAttribute('NotOnOrAfter') && instantIn(element, 'NotOnOrAfter') <= now - SKEW_MS)
    refuseSaml('expired', 'no longer valid');
}

const text = ({ textContent }: XmlElement): string => textContent.trim();

function one(parent: XmlElement, name: string): XmlElement {
  return onlyChild(parent, SAML, name) ?? refuseSaml('structure', `${name} is missing or repeated`);
}
