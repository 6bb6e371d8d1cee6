import { LOGOUT_ID, parsedLogoutRequest, postedLogoutRequest } from './logout-request.ts';
import { SamlRefused } from './refused.ts';
import { signedRedirectMessage, unverifiedRedirectMessage } from './redirect-binding.ts';
import { decodedXml } from './xml-guard.ts';
import { attribute, isNamed, onlyChild, SAML, SAMLP, type XmlElement } from './xml.ts';

/** As received, by one of the two bindings. */
export type ReceivedLogout =
  | { readonly binding: 'redirect'; readonly query: string; readonly relayState: string | undefined }
  | { readonly binding: 'post'; readonly base64: string; readonly relayState: string | undefined };

/** The request, once its signature is right. Throws `SamlRefused`. */
export const verifiedLogoutRequest = (received: ReceivedLogout, certificatesPem: readonly string[]): XmlElement =>
  received.binding === 'post'
    ? postedLogoutRequest(received.base64, certificatesPem)
    : parsedLogoutRequest(signedRedirectMessage('SAMLRequest', received.query, certificatesPem));

export interface LogoutClaims {
  readonly issuer: string;
  /** Undefined if no response can name it. */
  readonly id: string | undefined;
}

/** Whom a request seems to come from, unverified: only for a refusal. Undefined if it is no request for logout. */
export function claimsOfLogout(received: ReceivedLogout): LogoutClaims | undefined {
  try {
    const xml =
      received.binding === 'post'
        ? decodedXml(received.base64)
        : unverifiedRedirectMessage('SAMLRequest', received.query);
    const request = parsedLogoutRequest(xml);
    const issuer = onlyChild(request, SAML, 'Issuer')?.textContent.trim();
    if (!isNamed(request, SAMLP, 'LogoutRequest') || issuer === undefined) return undefined;
    const id = attribute(request, 'ID') ?? '';
    return { issuer, id: LOGOUT_ID.test(id) ? id : undefined };
  } catch (error) {
    if (error instanceof SamlRefused) return undefined;
    throw error;
  }
}
