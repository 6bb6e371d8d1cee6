import { createRequire } from 'node:module';
import { refuseSaml } from './refused.ts';
import { hashAlgorithms, signatureAlgorithms } from './signature-algorithms.ts';
import { ENVELOPED, EXCLUSIVE } from './signature-guard.ts';
import { parseXml, type XmlElement } from './xml.ts';

interface SignedXml {
  SignatureAlgorithms: object;
  HashAlgorithms: object;
  CanonicalizationAlgorithms: Readonly<Record<string, unknown>>;
  loadSignature(signature: XmlElement): void;
  checkSignature(xml: string): boolean;
  getSignedReferences(): readonly string[];
}
type SignedXmlClass = new (options: { publicCert: string; getCertFromKeyInfo: () => null }) => SignedXml;

// Declared here for the same reason as the parser (`xml.ts`). Loaded lazily: many processes never need it.
const require = createRequire(import.meta.url);
const signedXmlClass = (): SignedXmlClass => (require('xml-crypto') as { SignedXml: SignedXmlClass }).SignedXml;

/**
 * The element that a guarded signature covers, parsed from exactly the signed bytes: canonical, without the signature
 * itself, and without comments. Any of the certificates may have signed; a key in the document is never used. Throws
 * `SamlRefused`.
 */
export function signedElement(xml: string, signature: XmlElement, certificatesPem: readonly string[]): XmlElement {
  for (const certificate of certificatesPem) {
    const octets = signedOctets(xml, signature, certificate);
    if (octets !== undefined) return parseXml(octets).documentElement;
  }
  return refuseSaml('signature', 'the signature is wrong');
}

function signedOctets(xml: string, signature: XmlElement, certificatePem: string): string | undefined {
  const SignedXml = signedXmlClass();
  const verifier = new SignedXml({ publicCert: certificatePem, getCertFromKeyInfo: () => null });
  verifier.SignatureAlgorithms = signatureAlgorithms;
  verifier.HashAlgorithms = hashAlgorithms;
  const { [ENVELOPED]: enveloped, [EXCLUSIVE]: exclusive } = verifier.CanonicalizationAlgorithms;
  verifier.CanonicalizationAlgorithms = { [ENVELOPED]: enveloped, [EXCLUSIVE]: exclusive };
  try {
    verifier.loadSignature(signature);
    const [octets, ...others] = verifier.checkSignature(xml) ? verifier.getSignedReferences() : [];
    return others.length === 0 ? octets : undefined;
  } catch {
    // Thrown for a wrong value or a malformed signature.
    return undefined;
  }
}
