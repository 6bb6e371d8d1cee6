import { createPublicKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { TenantId } from '../kernel/ids.ts';
import { readCertificate } from './certificate.ts';
import type { Certificate } from './certificate.ts';
import { fingerprint } from './certificate-details.ts';
import { readDeviceCertificate, refuseCertificate } from './device-claims.ts';
import type { DeviceClaims, DeviceRefusal } from './device-claims.ts';
import { firstCertificate } from './pem.ts';
import { signatureVerifies, trustedAlgorithm } from './signature-algorithm.ts';
import { isCurrent } from './validity.ts';
import type { Validity } from './validity.ts';

/**
 * The unverified claims of a presented certificate (PEM or DER): enough to look up the tenant's authorities. Never
 * throws.
 */
export function readDeviceClaims(presented: string | Uint8Array): DeviceClaims | undefined {
  const read = readDeviceCertificate(presented);
  return 'refused' in read ? undefined : read.claims;
}

/** A current or former authority of a tenant. It is trusted for devices of that tenant only. */
export interface TrustedAuthority extends Validity {
  readonly tenantId: TenantId;
  /** The authority's name, DER. */
  readonly name: Buffer;
  readonly publicKey: KeyObject;
  /** Of its certificate, lower-case hex. */
  readonly fingerprintSha256: string;
}

/**
 * Takes the certificate of a CA that was accepted earlier (the first of the PEM); throws on any other. Cache the
 * result.
 */
export function trustAuthority(tenantId: TenantId, certificatePem: string): TrustedAuthority {
  const { der, subject, publicKey, notBefore, notAfter } = readCertificate(firstCertificate(certificatePem));
  return {
    tenantId,
    name: subject.der,
    publicKey: createPublicKey({ key: publicKey, format: 'der', type: 'spki' }),
    fingerprintSha256: fingerprint(der),
    notBefore,
    notAfter,
  };
}

/**
 * Claims that an authority of the tenant has signed and that are valid now. The caller checks whether the certificate
 * was issued for this key and is not revoked, by `serialNumber` and `publicKeySha256`. An ECDSA signature has a
 * second valid encoding, so one certificate can have two fingerprints.
 */
export interface DeviceIdentity extends DeviceClaims {
  readonly verified: true;
  /** Fingerprint of the certificate of the authority that signed it. */
  readonly authoritySha256: string;
}

function verifies({ signatureAlgorithm, tbs, signature }: Certificate, { publicKey }: TrustedAuthority): boolean {
  const algorithm = trustedAlgorithm(signatureAlgorithm);
  return algorithm !== undefined && signatureVerifies(algorithm, publicKey, tbs, signature);
}

/**
 * Verifies which device a presented certificate (PEM or DER) identifies, at `now` (epoch milliseconds). The TLS layer
 * has proved that the peer holds the key; this proves that the tenant named in the certificate issued it. Never
 * throws on a peer's input.
 */
export function verifyDeviceCertificate(
  presented: string | Uint8Array,
  authorities: readonly TrustedAuthority[],
  now: number,
): DeviceIdentity | DeviceRefusal {
  const read = readDeviceCertificate(presented);
  if ('refused' in read) return read;
  const { claims, certificate } = read;
  const candidates = authorities.filter(
    ({ tenantId, name }) => tenantId === claims.tenantId && name.equals(certificate.issuer.der),
  );
  if (candidates.length === 0) return refuseCertificate('unknown authority');
  const authority = candidates.find((candidate) => verifies(certificate, candidate));
  if (!authority) return refuseCertificate('bad signature');
  if (now < claims.notBefore) return refuseCertificate('not yet valid');
  if (!isCurrent(claims, now) || !isCurrent(authority, now)) return refuseCertificate('expired');
  return { ...claims, verified: true, authoritySha256: authority.fingerprintSha256 };
}
