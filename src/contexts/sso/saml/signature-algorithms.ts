import { constants, createHash, verify } from 'node:crypto';

const MORE = 'http://www.w3.org/2001/04/xmldsig-more#';
const MORE_2007 = 'http://www.w3.org/2007/05/xmldsig-more#';
const XENC = 'http://www.w3.org/2001/04/xmlenc#';

type Hash = 'sha256' | 'sha384' | 'sha512';
type Padding = 'pkcs1' | 'pss';

/**
 * RSA with SHA-2 (RFC 9231 §2.3). No SHA-1, and no shared secrets, because a public key must never be used as one. The
 * same table serves signed XML and signed addresses.
 */
const SIGNATURES: ReadonlyMap<string, readonly [Hash, Padding]> = new Map([
  [`${MORE}rsa-sha256`, ['sha256', 'pkcs1']],
  [`${MORE}rsa-sha384`, ['sha384', 'pkcs1']],
  [`${MORE}rsa-sha512`, ['sha512', 'pkcs1']],
  [`${MORE_2007}sha256-rsa-MGF1`, ['sha256', 'pss']],
  [`${MORE_2007}sha384-rsa-MGF1`, ['sha384', 'pss']],
  [`${MORE_2007}sha512-rsa-MGF1`, ['sha512', 'pss']],
]);

const DIGESTS: ReadonlyMap<string, Hash> = new Map([
  [`${XENC}sha256`, 'sha256'],
  [`${MORE}sha384`, 'sha384'],
  [`${XENC}sha512`, 'sha512'],
]);

export const isStrongSignature = (algorithm: string | undefined): boolean => SIGNATURES.has(algorithm ?? '');
export const isStrongDigest = (algorithm: string | undefined): boolean => DIGESTS.has(algorithm ?? '');

/** False also for an algorithm that is not in the table. `certificatePem` has an RSA key. */
export function isSignatureOf(algorithm: string, octets: Buffer, signature: Buffer, certificatePem: string): boolean {
  const [hash, padding] = SIGNATURES.get(algorithm) ?? [];
  if (hash === undefined) return false;
  const scheme =
    padding === 'pss'
      ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
      : { padding: constants.RSA_PKCS1_PADDING };
  return verify(hash, octets, { key: certificatePem, ...scheme }, signature);
}

/** The interfaces of the XML signature library. */
export interface XmlSignatureAlgorithm {
  verifySignature(material: string, certificatePem: string, signatureBase64: string): boolean;
  getAlgorithmName(): string;
}
export interface HashAlgorithm {
  getHash(xml: string): string;
  getAlgorithmName(): string;
}

export const signatureAlgorithms: Readonly<Record<string, new () => XmlSignatureAlgorithm>> = Object.fromEntries(
  [...SIGNATURES.keys()].map((name) => [
    name,
    class implements XmlSignatureAlgorithm {
      verifySignature(material: string, certificatePem: string, signatureBase64: string): boolean {
        return isSignatureOf(name, Buffer.from(material), Buffer.from(signatureBase64, 'base64'), certificatePem);
      }
      getAlgorithmName(): string {
        return name;
      }
    },
  ]),
);

export const hashAlgorithms: Readonly<Record<string, new () => HashAlgorithm>> = Object.fromEntries(
  [...DIGESTS].map(([name, hash]) => [
    name,
    class implements HashAlgorithm {
      getHash(xml: string): string {
        return createHash(hash).update(xml, 'utf8').digest('base64');
      }
      getAlgorithmName(): string {
        return name;
      }
    },
  ]),
);
