import { ifReadable, readCertificate } from './certificate.ts';
import type { Certificate } from './certificate.ts';
import { fingerprint } from './certificate-details.ts';
import { readDeviceUri } from './device-name.ts';
import type { DeviceName } from './device-name.ts';
import { readDistinguishedName } from './distinguished-name.ts';
import { carries, isAuthority, permitsPurpose, permitsUsage, readOnlyUri } from './extension-reading.ts';
import { KEY_USAGE } from './extension-writing.ts';
import { P256_PUBLIC_KEY_PREFIX } from './key-pair.ts';
import { OID } from './object-identifiers.ts';
import { presentedDer } from './presented-certificate.ts';

export type RefusalReason =
  'malformed' | 'not a device certificate' | 'unknown authority' | 'bad signature' | 'not yet valid' | 'expired';

export interface DeviceRefusal {
  readonly refused: RefusalReason;
}
export const refuseCertificate = (refused: RefusalReason): DeviceRefusal => ({ refused });

/** The unverified contents of a certificate. Use them only to find the tenant's authorities. */
export interface DeviceClaims extends DeviceName {
  /** Upper-case hex. */
  readonly serialNumber: string;
  /** Lower-case hex. */
  readonly fingerprintSha256: string;
  /** SHA-256 of the SubjectPublicKeyInfo, lower-case hex. */
  readonly publicKeySha256: string;
  /** Epoch milliseconds. */
  readonly notBefore: number;
  readonly notAfter: number;
}

export interface DeviceCertificateRead {
  readonly claims: DeviceClaims;
  readonly certificate: Certificate;
}

// The extensions that this reader understands. A certificate with any other critical one must be refused (RFC 5280
// §4.2).
const UNDERSTOOD: ReadonlySet<string> = new Set(
  [
    OID.basicConstraints,
    OID.keyUsage,
    OID.extendedKeyUsage,
    OID.subjectAltName,
    OID.subjectKeyIdentifier,
    OID.authorityKeyIdentifier,
  ].map(({ hex }) => hex),
);

const isDeviceProfile = (certificate: Certificate): boolean =>
  !isAuthority(certificate) &&
  carries(certificate, OID.keyUsage) &&
  permitsUsage(certificate, KEY_USAGE.digitalSignature) &&
  carries(certificate, OID.extendedKeyUsage) &&
  permitsPurpose(certificate, OID.clientAuth) &&
  // P-256, uncompressed: the prefix includes the lengths.
  certificate.publicKey.subarray(0, P256_PUBLIC_KEY_PREFIX.length).equals(P256_PUBLIC_KEY_PREFIX) &&
  [...certificate.extensions].every(([identifier, { critical }]) => !critical || UNDERSTOOD.has(identifier));

/** The device's name, if the URI and the subject give the same one. */
function readDeviceName(certificate: Certificate): DeviceName | undefined {
  const name = readDeviceUri(readOnlyUri(certificate));
  const subject = readDistinguishedName(certificate.subject);
  const agreed =
    subject.get(OID.commonName.hex) === name?.deviceId && subject.get(OID.organization.hex) === name?.tenantId;
  return agreed ? name : undefined;
}

/** Parses a presented certificate (PEM or DER) without verifying it. Never throws. */
export function readDeviceCertificate(presented: string | Uint8Array): DeviceCertificateRead | DeviceRefusal {
  const der = presentedDer(presented);
  const certificate = der && ifReadable(() => readCertificate(der));
  if (!certificate) return refuseCertificate('malformed');
  const name = ifReadable(() => (isDeviceProfile(certificate) ? readDeviceName(certificate) : undefined));
  if (!name) return refuseCertificate('not a device certificate');
  const { serialNumber, notBefore, notAfter } = certificate;
  return {
    claims: {
      ...name,
      serialNumber,
      fingerprintSha256: fingerprint(certificate.der),
      publicKeySha256: fingerprint(certificate.publicKey),
      notBefore,
      notAfter,
    },
    certificate,
  };
}
