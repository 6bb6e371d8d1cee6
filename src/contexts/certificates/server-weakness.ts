import type { X509Certificate } from 'node:crypto';
import { keyWeakness } from '../../platform/pki/signature-algorithm.ts';

/** RFC 5280 §4.2.1.12. */
const SERVER_AUTHENTICATION = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0'];

/**
 * Why clients refuse a listener's certificate although TLS can use it, as a short text: a key that browsers do not accept, or a
 * certificate that is for something else. Undefined for one that they accept, once they trust its issuer.
 */
export function serverWeakness(certificate: X509Certificate): string | undefined {
  const uses = certificate.keyUsage as string[] | undefined;
  if (uses && !uses.some((use) => SERVER_AUTHENTICATION.includes(use)))
    return 'extendedKeyUsage does not include serverAuth';
  try {
    return keyWeakness(certificate.publicKey);
  } catch {
    return 'its key cannot be read';
  }
}
