import { invalid, isFailure } from '../kernel/failure.ts';
import type { Failure } from '../kernel/failure.ts';
import type { Authority } from './authority.ts';
import { ifReadable } from './certificate.ts';
import type { Certificate } from './certificate.ts';
import { describeCertificate } from './certificate-details.ts';
import { isAuthority, permitsPurpose, permitsUsage } from './extension-reading.ts';
import { KEY_USAGE } from './extension-writing.ts';
import { prepareCertificateIssuer } from './certificate-issuer.ts';
import { OID } from './object-identifiers.ts';
import { isSignedBy, readCertificates, readPair, refuseWithKey } from './uploaded-pair.ts';
import type { UploadedPair } from './uploaded-pair.ts';

/** `30 00`. Certificates of such an issuer cannot name it (RFC 5280 §4.1.2.6). */
const EMPTY_NAME = 2;

function whyNoAuthority(certificate: Certificate): string | undefined {
  if (!isAuthority(certificate)) return 'is not a CA certificate';
  if (!permitsUsage(certificate, KEY_USAGE.keyCertSign)) return 'keyUsage does not include keyCertSign';
  if (!permitsPurpose(certificate, OID.clientAuth)) return 'extendedKeyUsage does not include clientAuth';
  return certificate.subject.length === EMPTY_NAME ? 'subject is empty' : undefined;
}

/**
 * Checks a CA that an administrator uploads: PEM of at most 64 KiB each, at `now` (epoch milliseconds). A root must
 * verify under its own key. An intermediate must be followed by the certificate of its issuer, so that a damaged one
 * is detected. Returns the CA in normalized form (certificates only, key as PKCS#8), or the first reason to refuse
 * its certificate and its key.
 */
export function inspectAuthority(certificatePem: string, privateKeyPem: string, now: number): Authority | Failure {
  const certificates = readAuthority(certificatePem);
  if (isFailure(certificates)) return refuseWithKey(certificates, privateKeyPem);
  const [own] = certificates;
  const pair = readPair(certificates, privateKeyPem, now);
  if (isFailure(pair)) return pair;
  const normal = { certificatePem: pair.certificatePem, privateKeyPem: pair.privateKeyPem };
  // A CA that is accepted here must work at the next enrollment, when no administrator is there to replace it.
  if (!ifReadable(() => prepareCertificateIssuer(normal))) return invalid('certificate', 'has unreadable extensions');
  return { ...describeCertificate(own.fields), ...normal };
}

function readAuthority(certificatePem: string): UploadedPair['certificates'] | Failure {
  const certificates = readCertificates('certificate', certificatePem);
  if (isFailure(certificates)) return certificates;
  const [own, issuer] = certificates;
  const reason = ifReadable(() => whyNoAuthority(own.fields) ?? '') ?? 'has unreadable extensions';
  if (reason) return invalid('certificate', reason);
  return issuer || isSignedBy(own, own)
    ? certificates
    : invalid('certificate', 'is not self-signed, or damaged; append the certificate of its issuer');
}
