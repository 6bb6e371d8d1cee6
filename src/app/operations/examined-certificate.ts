import type { X509Certificate } from 'node:crypto';
import { keptPair } from '../../contexts/certificates/server-certificate.ts';
import { namesOf } from '../../platform/pki/certificate-details.ts';
import { fine, finding, type Examined } from './examined.ts';

const EXPIRY_DAYS = 30;
const DAY_MS = 86_400_000;

/** The certificate in DATA_DIR/tls, which the listener uses unless an administrator installed another one. */
export function examineCertificate(dataDir: string): Examined {
  const kept = keptPair(dataDir);
  if (!kept) return fine('none in DATA_DIR/tls: a self-signed one is created');
  const days = Math.floor((Date.parse(kept.certificate.validTo) - Date.now()) / DAY_MS);
  const text = `${nameOf(kept.certificate)}, valid for ${days} days`;
  return days < EXPIRY_DAYS ? finding(`${text}: renew it`) : fine(text);
}

/** Authorities also issue certificates without a subject: only the other names count for browsers. */
const nameOf = (certificate: X509Certificate): string =>
  namesOf(certificate).subject || (certificate.subjectAltName ?? 'a certificate without a name');
