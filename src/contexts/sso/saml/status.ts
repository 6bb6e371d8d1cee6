import { attribute, onlyChild, SAMLP, type XmlElement } from './xml.ts';

const SUCCESS = 'urn:oasis:names:tc:SAML:2.0:status:Success';

/** True if the provider reports success (Core §3.2.2.2). */
export function succeeded(response: XmlElement): boolean {
  const status = onlyChild(response, SAMLP, 'Status');
  const code = status && onlyChild(status, SAMLP, 'StatusCode');
  return code !== undefined && attribute(code, 'Value') === SUCCESS;
}
