import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isFailure } from '../../../src/platform/kernel/failure.ts';
import { asTenantId, type TenantId } from '../../../src/platform/kernel/ids.ts';
import { authorityKeyLocation, VaultCertificateService } from '../../../src/platform/pki/certificate-service.ts';
import { trustAuthority, verifyDeviceCertificate } from '../../../src/platform/pki/device-identity.ts';
import type { SecretLocation, Vault } from '../../../src/platform/vault/vault.ts';
import { DAY, newAuthority, newTenant, NOW } from './fixtures.ts';

/** A vault in memory that counts reads. */
class CountingVault implements Vault {
  readonly secrets = new Map<string, Buffer>();
  looks = 0;
  failing = false;

  put(_tenantId: TenantId, _place: SecretLocation, secret: string | Buffer): Promise<string> {
    const reference = randomUUID();
    this.secrets.set(reference, Buffer.from(secret));
    return Promise.resolve(reference);
  }
  get(_tenantId: TenantId, _place: SecretLocation, reference: string): Promise<Buffer | undefined> {
    this.looks += 1;
    return this.failing ? Promise.reject(new Error('vault is away')) : Promise.resolve(this.secrets.get(reference));
  }
  forget(_tenantId: TenantId, reference: string): Promise<void> {
    this.secrets.delete(reference);
    return Promise.resolve();
  }
}

async function withAuthority() {
  const vault = new CountingVault();
  const certificates = new VaultCertificateService(vault);
  const tenantId = newTenant();
  const { privateKeyPem, ...authority } = newAuthority();
  const privateKeyRef = await vault.put(tenantId, authorityKeyLocation(tenantId), privateKeyPem);
  return { vault, certificates, tenantId, authority: { ...authority, privateKeyRef } };
}

const issued = <T>(answer: T) => {
  if (isFailure(answer)) throw new Error(answer.message);
  return answer as Exclude<T, { failed: true }>;
};

describe('the certificate service', () => {
  it('issues for 365 days, for the requested tenant and device', async () => {
    const { certificates, tenantId, authority } = await withAuthority();
    const deviceId = randomUUID();
    const { certificatePem, notAfter } = issued(await certificates.issue(tenantId, authority, { deviceId }, NOW));
    expect(notAfter).toBe(NOW + 365 * DAY);
    const verdict = verifyDeviceCertificate(certificatePem, [trustAuthority(tenantId, authority.certificatePem)], NOW);
    expect(verdict).toMatchObject({ verified: true, tenantId, deviceId });
  });

  it('opens the key once for many certificates, including concurrent ones', async () => {
    const { vault, certificates, tenantId, authority } = await withAuthority();
    await Promise.all(
      Array.from({ length: 20 }, () => certificates.issue(tenantId, authority, { deviceId: randomUUID() }, NOW)),
    );
    await certificates.issue(tenantId, authority, { deviceId: randomUUID() }, NOW);
    expect(vault.looks).toBe(1);
  });

  it('is unavailable while the key is missing, and does not cache that', async () => {
    const { vault, certificates, tenantId, authority } = await withAuthority();
    const key = vault.secrets.get(authority.privateKeyRef)!;
    vault.secrets.clear();
    expect(await certificates.issue(tenantId, authority, { deviceId: randomUUID() }, NOW)).toMatchObject({
      kind: 'unavailable',
    });
    vault.secrets.set(authority.privateKeyRef, key);
    expect(await certificates.issue(tenantId, authority, { deviceId: randomUUID() }, NOW)).toMatchObject({
      notAfter: NOW + 365 * DAY,
    });
  });

  it('tries again after the vault failed', async () => {
    const { vault, certificates, tenantId, authority } = await withAuthority();
    vault.failing = true;
    await expect(certificates.issue(tenantId, authority, { deviceId: randomUUID() }, NOW)).rejects.toThrow(
      'vault is away',
    );
    vault.failing = false;
    expect(isFailure(await certificates.issue(tenantId, authority, { deviceId: randomUUID() }, NOW))).toBe(false);
  });

  it('is unavailable once the authority has expired', async () => {
    const { certificates, tenantId, authority } = await withAuthority();
    const later = authority.expiresAt + DAY;
    expect(await certificates.issue(tenantId, authority, { deviceId: randomUUID() }, later)).toMatchObject({
      kind: 'unavailable',
    });
  });

  it('never signs with a key that does not match', async () => {
    const { vault, certificates, tenantId, authority } = await withAuthority();
    vault.secrets.set(authority.privateKeyRef, Buffer.from(newAuthority().privateKeyPem));
    await expect(certificates.issue(tenantId, authority, { deviceId: randomUUID() }, NOW)).rejects.toThrow(
      'does not belong',
    );
  });

  it('keeps tenants apart though they name the same authority', async () => {
    const { certificates, tenantId, authority } = await withAuthority();
    const other = asTenantId(randomUUID());
    const { certificatePem } = issued(await certificates.issue(other, authority, { deviceId: randomUUID() }, NOW));
    const verdict = verifyDeviceCertificate(certificatePem, [trustAuthority(tenantId, authority.certificatePem)], NOW);
    expect(verdict).toEqual({ refused: 'unknown authority' });
  });
});
