import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';

const MAX_CERTIFICATES = 5;
const LEAST_RSA_BITS = 2_048;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/** A certificate as providers show and metadata contain it, without the lines around it, becomes PEM. */
export function pemOf(text: string): string {
  const bare = text.replaceAll(/\s/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(bare)) return text;
  return `-----BEGIN CERTIFICATE-----\n${bare.replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
}

/**
 * Every certificate of a PEM text, each as its own PEM; undefined if any part is not a certificate that can verify
 * signatures.
 */
export function certificatesOf(text: string): readonly X509Certificate[] | undefined {
  const certificates = parsedCertificates(text);
  return certificates?.every(({ publicKey }) => isStrong(publicKey)) ? certificates : undefined;
}

function parsedCertificates(text: string): readonly X509Certificate[] | undefined {
  const blocks = text.match(CERTIFICATE) ?? [];
  if (blocks.length === 0 || blocks.length > MAX_CERTIFICATES || text.replaceAll(CERTIFICATE, '').trim() !== '')
    return undefined;
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    return undefined;
  }
}

/** Also with keys that are too short. */
export const areCertificates = (text: string): boolean => parsedCertificates(text) !== undefined;

export const isCertificateBundle = (text: string): boolean => certificatesOf(text) !== undefined;

/** True if a provider's signatures can be verified with them: only RSA keys are supported for XML signatures. */
export const verifiesSignatures = (text: string): boolean =>
  certificatesOf(text)?.every(({ publicKey }) => publicKey.asymmetricKeyType === 'rsa') ?? false;

/** Encrypted keys are refused, because the service cannot ask for a passphrase. */
export function isSigningKey(text: string): boolean {
  try {
    return isStrong(createPrivateKey(text));
  } catch {
    return false;
  }
}

export function certifies(certificatePem: string, privateKeyPem: string): boolean {
  const [certificate] = certificatesOf(certificatePem) ?? [];
  return certificate !== undefined && certificate.checkPrivateKey(createPrivateKey(privateKeyPem));
}

const isStrong = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean =>
  asymmetricKeyType === 'ec' ||
  (asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= LEAST_RSA_BITS);
