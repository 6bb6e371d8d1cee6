import { refuseSaml } from './refused.ts';
import { isStrongDigest, isStrongSignature } from './signature-algorithms.ts';
import { attribute, childrenOf, DS, elementsIn, onlyChild, type XmlElement } from './xml.ts';

export const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
export const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';

/**
 * Accepts only the form of signature that SAML uses (Core §5.4): enveloped, over its parent and nothing else, in
 * exclusive canonical form without comments. Throws `SamlRefused`.
 *
 * `KeyInfo` may say anything: only the configured certificates verify (Core §5.4.5 requires none).
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
  if (!isStrongSignature(attribute(only(signedInfo, 'SignatureMethod'), 'Algorithm')))
    refuseSaml('weak_algorithm', 'signature');
  guardReference(reference, signature.parentNode!);
}

function guardReference(reference: XmlElement, parent: XmlElement): void {
  const id = attribute(parent, 'ID');
  // A whole-document reference ("") would be possible for the response only; one form is enough.
  if (!id || !/^[A-Za-z_][\w.-]*$/.test(id) || attribute(reference, 'URI') !== `#${id}`)
    refuseSaml('structure', 'the signature does not sign its parent');
  if (!isStrongDigest(attribute(only(reference, 'DigestMethod'), 'Algorithm'))) refuseSaml('weak_algorithm', 'digest');
  const transforms = childrenOf(only(reference, 'Transforms'), DS, 'Transform').map((transform) =>
    attribute(transform, 'Algorithm'),
  );
  if (transforms.length !== 2 || transforms[0] !== ENVELOPED || transforms[1] !== EXCLUSIVE)
    refuseSaml('structure', 'the signature has other transforms than SAML allows');
}

function only(parent: XmlElement, name: string): XmlElement {
  return onlyChild(parent, DS, name) ?? refuseSaml('structure', `${name} is missing or repeated`);
}
