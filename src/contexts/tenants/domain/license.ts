import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { uuid } from '../../../platform/kernel/ids.ts';

export const tiers = ['trial', 'starter', 'professional', 'enterprise'] as const;

/** The content of a license (OP-050). */
export const licenseSchema = z.object({
  licenseId: uuid(),
  clientName: z.string().min(1).max(200),
  tier: z.enum(tiers),
  maxUsers: z.int().min(1).max(10_000_000),
  issuedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  maxEventRetentionDays: z.int().min(1).max(3_650),
  maxStreamRetentionDays: z.int().min(1).max(3_650),
  features: z.array(z.string().max(64)).max(64),
});
export type License = z.output<typeof licenseSchema>;

export type LicenseRefusal =
  'is not of the form payload.signature' | 'has a bad signature' | 'has an unreadable payload' | 'has expired';

/**
 * Reads `base64url(JSON).base64url(Ed25519 signature over the first part as ASCII)` (OP-049). The signature is verified
 * before the payload is parsed.
 */
export function readLicense(key: string, publicKey: KeyObject, now: number): License | { refused: LicenseRefusal } {
  const parts = key.split('.');
  const [payload, signature] = parts;
  if (parts.length !== 2 || !payload || !signature) return { refused: 'is not of the form payload.signature' };
  if (!verify(null, Buffer.from(payload, 'ascii'), publicKey, Buffer.from(signature, 'base64url'))) {
    return { refused: 'has a bad signature' };
  }
  const license = licenseSchema.safeParse(parseJson(Buffer.from(payload, 'base64url').toString('utf8')));
  if (!license.success) return { refused: 'has an unreadable payload' };
  return Date.parse(license.data.expiresAt) <= now ? { refused: 'has expired' } : license.data;
}

export const licensePublicKey = (pem: string): KeyObject => {
  const key = createPublicKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('LICENSE_PUBLIC_KEY must be an Ed25519 public key');
  return key;
};

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
