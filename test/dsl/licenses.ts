import { generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto';
import type { License } from '../../src/contexts/tenants/domain/license.ts';

const pair = generateKeyPairSync('ed25519');

export const licensePublicKeyPem = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();

export const licenseSigningKeyForTests = pair.privateKey;

const DAY = 86_400_000;

/** A license that the test server accepts; `over` changes its payload, `key` signs it with another key. */
export function licenseKey(over: Partial<License> = {}, key: KeyObject = pair.privateKey): string {
  const license: License = {
    licenseId: randomUUID(),
    clientName: 'Acme',
    tier: 'enterprise',
    maxUsers: 10_000,
    issuedAt: new Date().toISOString(),
    expiresAt: new Date(Date.now() + 365 * DAY).toISOString(),
    maxEventRetentionDays: 365,
    maxStreamRetentionDays: 730,
    features: [],
    ...over,
  };
  const payload = Buffer.from(JSON.stringify(license)).toString('base64url');
  return `${payload}.${sign(null, Buffer.from(payload, 'ascii'), key).toString('base64url')}`;
}
