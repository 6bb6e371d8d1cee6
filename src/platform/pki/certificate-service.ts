import { LRUCache } from 'lru-cache';
import { isFailure, unavailable, type Failure } from '../kernel/failure.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { Vault } from '../vault/vault.ts';
import type { Authority } from './authority.ts';
import { issueDeviceCertificate, type DeviceCertificate } from './device-certificate.ts';
import { prepareCertificateIssuer, type CertificateIssuer } from './certificate-issuer.ts';
import { issueRevocationList, type RevocationList, type RevokedCertificate } from './revocation-list.ts';
import { inspectAuthority } from './uploaded-authority.ts';

/** The authority that signs for a tenant: its certificate (PEM), and where in the vault its key is. */
export interface SigningAuthority {
  readonly certificatePem: string;
  readonly privateKeyRef: string;
  readonly fingerprintSha256: string;
}

/** Certificates as commands see them: what is slow or secret about them stays behind this port. */
export interface CertificateService {
  /** Judges a CA that an administrator brings; answers it in normal form, or the first reason against it. */
  inspect(certificatePem: string, privateKeyPem: string, now: number): Authority | Failure;
  /** A fresh key and a certificate for the device, of `DEVICE_CERTIFICATE_DAYS` from `now` or until the authority ends. */
  issue(
    tenantId: TenantId,
    authority: SigningAuthority,
    deviceId: string,
    now: number,
  ): Promise<DeviceCertificate | Failure>;
  /** What this authority signed and is refused, signed by it: good for a day from `now`. */
  revocationList(
    tenantId: TenantId,
    authority: SigningAuthority,
    revoked: readonly RevokedCertificate[],
    now: number,
  ): Promise<RevocationList | Failure>;
}

/** Interface, "Limits": typically 365 days. */
export const DEVICE_CERTIFICATE_DAYS = 365;
const DAY_MS = 86_400_000;
const MAX_ISSUERS = 500;

/** No authority, or one whose key is gone: enrollment is not possible here until an admin uploads another. */
export const NO_AUTHORITY = unavailable('certificate service not configured');

/** Where the vault keeps the key of a tenant's authority. */
export const authorityKeyLocation = (tenantId: TenantId) => ({ owner: `tenant/${tenantId}`, field: 'caPrivateKey' });

/**
 * Signs with keys from the vault. An authority made ready is kept in memory, since opening and checking its key costs far
 * more than a signature; the least recently used one goes when there are too many tenants.
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
    deviceId: string,
    now: number,
  ): Promise<DeviceCertificate | Failure> {
    const issuer = await this.#issuer(tenantId, authority);
    if (!issuer) return NO_AUTHORITY;
    const issued = issueDeviceCertificate(issuer, {
      tenantId,
      deviceId,
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

  /** The reference is part of the name: the same certificate may be uploaded again with its key kept elsewhere. */
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
