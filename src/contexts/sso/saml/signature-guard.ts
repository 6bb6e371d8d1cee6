import { refuseSaml } from './refused.ts';
import { attribute, childrenOf, DS, elementsIn, onlyChild, type XmlElement } from './xml.ts';

const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const MORE = 'http://www.w3.org/2001/04/xmldsig-more#';
const XENC = 'http://www.w3.org/2001/04/xmlenc#';

/**
 * RSA with SHA-2, as far as the library supports it. No SHA-1, and no shared secrets, because a public key must never
 * be used as one.
 */
const SIGNATURE_METHODS = new Set([
  `${MORE}rsa-sha256`,
  `${MORE}rsa-sha512`,
  'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
]);
const DIGEST_METHODS = new Set([`${XENC}sha256`, `${XENC}sha512`]);

/**
 * Accepts only the form of signature that SAML uses (Core §5.4): enveloped, over its parent and nothing else, in
 * exclusive canonical form without comments. Throws `SamlRefused`.
 */
export function guardSignature(signature: XmlElement): void {
  const parts = elementsIn(signature).map(({ localName }) => localName);
  // No Object element: content inside a signature is a common place to hide forged data.
  if (!/^SignedInfo,SignatureValue(,KeyInfo)?$/.test(parts.join(',')))
    refuseSaml('structure', 'the signature has missing or additional elements');
  const signedInfo = only(signature, 'SignedInfo');
  const [, , reference, ...others] = elementsIn(signedInfo);
  if (!reference || reference.localName !== 'Reference' || others.length > 0)
    refuseSaml('structure', 'the signature does not have exactly one reference');
  if (attribute(only(signedInfo, 'CanonicalizationMethod'), 'Algorithm') !== EXCLUSIVE)
    refuseSaml('weak_algorithm', 'canonicalization');
  if (!SIGNATURE_METHODS.has(attribute(only(signedInfo, 'SignatureMethod'), 'Algorithm') ?? ''))
    refuseSaml('weak_algorithm', 'signature');
  guardReference(reference, signature.parentNode!);
  guardKeyInfo(onlyChild(signature, DS, 'KeyInfo'));
}

function guardReference(reference: XmlElement, parent: XmlElement): void {
  const id = attribute(parent, 'ID');
  // A whole-document reference ("") would be possible for the response only; one form is enough.
  if (!id || !/^[A-Za-z_][\w.-]*$/.test(id) || attribute(reference, 'URI') !== `#${id}`)
    refuseSaml('structure', 'the signature does not sign its parent');
  if (!DIGEST_METHODS.has(attribute(only(reference, 'DigestMethod'), 'Algorithm') ?? ''))
    refuseSaml('weak_algorithm', 'digest');
  const transforms = childrenOf(only(reference, 'Transforms'), DS, 'Transform').map((transform) =>
    attribute(transform, 'Algorithm'),
  );
  if (transforms.length !== 2 || transforms[0] !== ENVELOPED || transforms[1] !== EXCLUSIVE)
    refuseSaml('structure', 'the signature has other transforms than SAML allows');
}

/** A key in the message proves nothing. It may only identify the configured certificate, and has to. */
function guardKeyInfo(keyInfo: XmlElement | undefined): void {
  if (!keyInfo) return;
  const certificates = childrenOf(keyInfo, DS, 'X509Data').flatMap((data) => childrenOf(data, DS, 'X509Certificate'));
  const known = elementsIn(keyInfo).every(
    ({ localName }) => localName === 'X509Data' || localName === 'KeyName' || localName === 'KeyValue',
  );
  if (certificates.length !== 1 || !known)
    refuseSaml('structure', 'the key is not identified by exactly one certificate');
}

function only(parent: XmlElement, name: string): XmlElement {
  return onlyChild(parent, DS, name) ?? refuseSaml('structure', `${name} is missing or repeated`);
}
