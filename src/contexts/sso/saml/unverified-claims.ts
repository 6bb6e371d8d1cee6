import { guardDocument } from './document-guard.ts';
import { attribute, childrenOf, onlyChild, SAML } from './xml.ts';

/** What a response says about itself. Nothing is verified: only fit for finding out what to verify, or whom to ask. */
export interface ResponseClaims {
  readonly issuer: string | undefined;
  readonly audiences: readonly string[];
  readonly inResponseTo: string | undefined;
}

/** Throws `SamlRefused`. */
export function claimsOf(base64: string): ResponseClaims {
  const { response, assertion } = guardDocument(base64);
  const conditions = onlyChild(assertion, SAML, 'Conditions');
  const restrictions = conditions ? childrenOf(conditions, SAML, 'AudienceRestriction') : [];
  return {
    issuer: onlyChild(assertion, SAML, 'Issuer')?.textContent.trim(),
    audiences: restrictions.flatMap((restriction) =>
      childrenOf(restriction, SAML, 'Audience').map(({ textContent }) => textContent.trim()),
    ),
    inResponseTo: attribute(response, 'InResponseTo'),
  };
}
