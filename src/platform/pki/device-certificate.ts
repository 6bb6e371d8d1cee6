import { unavailable } from '../kernel/failure.ts';
import type { Failure } from '../kernel/failure.ts';
import { asTenantId, isUuid } from '../kernel/ids.ts';
import type { TenantId } from '../kernel/ids.ts';
import { fingerprint } from './certificate-details.ts';
import { signedSequence } from './certificate-writing.ts';
import { deviceLayout } from './device-layout.ts';
import type { CertificateIssuer } from './certificate-issuer.ts';
import { keyIdentifierOfPoint } from './key-identifier.ts';
import { generateKeyPair, P256_PUBLIC_KEY_PREFIX } from './key-pair.ts';
import { pem } from './pem.ts';
import { freshSerialNumber, serialText } from './serial-number.ts';
import { isCurrent, timeElement, validityFrom } from './validity.ts';

export interface DeviceCertificateRequest {
  readonly tenantId: TenantId;
  /** A UUID. */
  readonly deviceId: string;
  /** The time of issue, in epoch milliseconds. The certificate itself begins `CLOCK_SKEW_MS` earlier. */
  readonly notBefore: number;
  /** The requested end; the certificate ends no later than its authority. */
  readonly notAfter: number;
  /** The key of the device, as an uncompressed P-256 point. Without it, a key pair is generated. */
  readonly publicPoint?: Buffer | null;
}

export interface DeviceCertificate {
  readonly certificatePem: string;
  /** PKCS#8, not encrypted. Given to the device once and never stored. Null if the device generated its key itself. */
  readonly privateKeyPem: string | null;
  /** Upper-case hex. Revocation uses it. */
  readonly serialNumber: string;
  /** Epoch milliseconds on whole seconds, exactly as in the certificate. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Lower-case hex. */
  readonly fingerprintSha256: string;
  /** SHA-256 of the SubjectPublicKeyInfo, lower-case hex. */
  readonly publicKeySha256: string;
}

/**
 * A certificate for a fresh P-256 key, or for the key of the device, that names its owner: CN = deviceId, O = tenantId, both again as a URI in
 * subjectAltName, for TLS clients only. Fails as `unavailable` outside the authority's own validity; a malformed id
 * is a TypeError.
 */
export function issueDeviceCertificate(
  issuer: CertificateIssuer,
  request: DeviceCertificateRequest,
): DeviceCertificate | Failure {
  if (!isUuid(request.deviceId)) throw new TypeError('a device id is a UUID');
  if (!isCurrent(issuer.certificate, request.notBefore)) return unavailable('certificate_authority_not_valid');
  const asked = validityFrom(request.notBefore, request.notAfter);
  const notBefore = Math.max(asked.notBefore, issuer.certificate.notBefore);
  const notAfter = Math.min(asked.notAfter, issuer.certificate.notAfter);

  const [from, until] = [timeElement(notBefore), timeElement(notAfter)];
  const { publicPoint, privateKeyPem } = request.publicPoint
    ? { publicPoint: request.publicPoint, privateKeyPem: null }
    : generateKeyPair();
  const serial = freshSerialNumber();
  const toBeSigned = deviceLayout(
    issuer,
    from,
    until,
  )({
    serial,
    notBefore: from.content,
    notAfter: until.content,
    tenantId: Buffer.from(asTenantId(request.tenantId), 'latin1'),
    deviceId: Buffer.from(request.deviceId.toLowerCase(), 'latin1'),
    publicPoint,
    keyIdentifier: keyIdentifierOfPoint(publicPoint),
  });
  const der = signedSequence(issuer, toBeSigned);
  return {
    certificatePem: pem('CERTIFICATE', der),
    privateKeyPem,
    serialNumber: serialText(serial),
    notBefore,
    notAfter,
    fingerprintSha256: fingerprint(der),
    publicKeySha256: fingerprint(Buffer.concat([P256_PUBLIC_KEY_PREFIX, publicPoint])),
  };
}
