import { LRUCache } from 'lru-cache';
import { isFailure, unavailable, type Failure } from '../kernel/failure.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { Vault } from '../vault/vault.ts';
import type { Authority } from './authority.ts';
import { issueDeviceCertificate, type DeviceCertificate, type DeviceCertificateRequest } from './device-certificate.ts';
import { prepareCertificateIssuer, type CertificateIssuer } from './certificate-issuer.ts';
import { issueRevocationList, type RevocationList, type RevokedCertificate } from './revocation-list.ts';
import { inspectAuthority } from './uploaded-authority.ts';

/** The authority that signs for a tenant: its certificate (PEM), and the vault reference of its key. */
export interface SigningAuthority {
  readonly certificatePem: string;
  readonly privateKeyRef: string;
  readonly fingerprintSha256: string;
}

/** The owner of a certificate, and its key; null: a fresh one. */
export type DeviceAndKey = Pick<DeviceCertificateRequest, 'deviceId' | 'publicPoint'>;

/** Certificates as commands use them. Slow and secret work stays behind this port. */
export interface CertificateService {
  /** Checks a CA that an administrator uploads. Returns it in normalized form, or the first reason to refuse it. */
  inspect(certificatePem: string, privateKeyPem: string, now: number): Authority | Failure;
  /**
   * A certificate for the device, valid for `DEVICE_CERTIFICATE_DAYS` from `now`, or until the authority ends. It is
   * for the key of the device (`publicPoint`), or for a fresh one.
   */
  issue(
    tenantId: TenantId,
    authority: SigningAuthority,
    request: DeviceAndKey,
    now: number,
  ): Promise<DeviceCertificate | Failure>;
  /** The revocation list of this authority, signed by it, valid for a day from `now`. */
  revocationList(
    tenantId: TenantId,
    authority: SigningAuthority,
    revoked: readonly RevokedCertificate[],
    now: number,
  ): Promise<RevocationList | Failure>;
}

/** F231. */
export const DEVICE_CERTIFICATE_DAYS = 365;
const DAY_MS = 86_400_000;
const MAX_ISSUERS = 500;

/** There is no authority, or its key is lost. Enrollment is impossible until an administrator uploads another. */
export const NO_AUTHORITY = unavailable('certificate_authority_missing');

/** The vault location of the key of a tenant's authority. */
export const authorityKeyLocation = (tenantId: TenantId) => ({ owner: `tenant/${tenantId}`, field: 'caPrivateKey' });

/**
 * Signs with keys from the vault. Prepared authorities are cached, because opening and checking a key costs far more
 * than a signature. The least recently used one is dropped.
 */
export class VaultCertificateService implements CertificateService {
  readonly #vault: Vault;
  readonly #issuers = new LRUCache<string, Promise<CertificateIssuer | undefined>>({ max: MAX_ISSUERS });

  readonly inspect = inspectAuthority;

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  async issue(
    tenantId: TenantId,
    authority: SigningAuthority,
    { deviceId, publicPoint }: DeviceAndKey,
    now: number,
  ): Promise<DeviceCertificate | Failure> {
    const issuer = await this.#issuer(tenantId, authority);
    if (!issuer) return NO_AUTHORITY;
    const issued = issueDeviceCertificate(issuer, {
      tenantId,
      deviceId,
      publicPoint,
      notBefore: now,
      notAfter: now + DEVICE_CERTIFICATE_DAYS * DAY_MS,
    });
    return isFailure(issued) ? NO_AUTHORITY : issued;
  }

  async revocationList(
    tenantId: TenantId,
    authority: SigningAuthority,
    revoked: readonly RevokedCertificate[],
    now: number,
  ): Promise<RevocationList | Failure> {
    const issuer = await this.#issuer(tenantId, authority);
    return issuer
      ? issueRevocationList(issuer, revoked, { thisUpdate: now, nextUpdate: now + DAY_MS, number: now })
      : NO_AUTHORITY;
  }

  /** The cache key contains the reference: the same certificate may be uploaded again with its key stored elsewhere. */
  async #issuer(tenantId: TenantId, authority: SigningAuthority): Promise<CertificateIssuer | undefined> {
    const name = `${tenantId}/${authority.fingerprintSha256}/${authority.privateKeyRef}`;
    const known = this.#issuers.get(name);
    const preparing = known ?? this.#prepare(tenantId, authority);
    if (!known) this.#issuers.set(name, preparing);
    const forget = () => {
      if (this.#issuers.peek(name) === preparing) this.#issuers.delete(name);
    };
    const issuer = await preparing.catch((error: unknown) => {
      forget();
      throw error;
    });
    if (!issuer) forget();
    return issuer;
  }

  async #prepare(
    tenantId: TenantId,
    { certificatePem, privateKeyRef }: SigningAuthority,
  ): Promise<CertificateIssuer | undefined> {
    const key = await this.#vault.get(tenantId, authorityKeyLocation(tenantId), privateKeyRef);
    return key && prepareCertificateIssuer({ certificatePem, privateKeyPem: key.toString() });
  }
}
