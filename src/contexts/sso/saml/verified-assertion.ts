import { X509Certificate } from 'node:crypto';
import { createRequire } from 'node:module';
import type { GuardedResponse } from './document-guard.ts';
import { refuseSaml } from './refused.ts';
import { attribute, childrenOf, DS, isNamed, onlyChild, parseXml, SAML, type XmlElement } from './xml.ts';

interface Verifier {
  verifySignature(xml: string, trusted: { metadata: { getX509Certificate(): string[] } }): [boolean, string | null];
}

// Declared here for the same reason as the parser (`xml.ts`). Loaded lazily: it takes a tenth of a second, and many
// processes never need it.
const require = createRequire(import.meta.url);
const verifier = (): Verifier => (require('samlify') as { SamlLib: Verifier }).SamlLib;

/**
 * The assertion as it was signed: parsed from exactly the bytes that a signature by one of these certificates covers,
 * so that unsigned data is never read. Every signature in the document has to be right. Throws `SamlRefused`.
 */
export function verifiedAssertion(guarded: GuardedResponse, certificatesPem: readonly string[]): XmlElement {
  const certificates = certificatesPem.map((pem) => new X509Certificate(pem).raw.toString('base64'));
  // The library accepts the document if any one signature is right. The assertion that it returns still contains its
  // own signature only if the response's signature was right.
  if (guarded.responseSignature && childrenOf(signedPart(guarded.xml, certificates), DS, 'Signature').length !== 1) {
    refuseSaml('signature', "the response's signature is wrong");
  }
  const assertion = signedPart(withoutResponseSignature(guarded.xml), certificates);
  if (attribute(assertion, 'ID') !== attribute(guarded.assertion, 'ID'))
    refuseSaml('signature', 'another element was signed');
  return assertion;
}

function signedPart(xml: string, certificates: readonly string[]): XmlElement {
  for (const certificate of certificates) {
    const signed = verified(xml, certificate);
    if (!signed) continue;
    const root = parseXml(signed).documentElement;
    if (isNamed(root, SAML, 'Assertion')) return root;
  }
  return refuseSaml('signature', 'the signature is wrong');
}

function verified(xml: string, certificate: string): string | undefined {
  try {
    const [right, signed] = verifier().verifySignature(xml, { metadata: { getX509Certificate: () => [certificate] } });
    return right && signed ? signed : undefined;
  } catch {
    // Thrown for a wrong value, another certificate or an unknown algorithm.
    return undefined;
  }
}

/** An enveloped signature over the response also covers the assertion's signature, but not the other way round. */
function withoutResponseSignature(xml: string): string {
  const document = parseXml(xml);
  const signature = onlyChild(document.documentElement, DS, 'Signature');
  if (signature) document.documentElement.removeChild(signature);
  return document.toString();
}
