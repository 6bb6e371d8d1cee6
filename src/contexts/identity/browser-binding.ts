import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * Binds a redirect to a provider and back to one browser, through a secret that only the browser's cookie holds. The
 * server keeps its digest. The value that the provider has to return is derived from the secret, so the stored data is
 * of no use to an attacker.
 */
export const newBrowserSecret = (secure: boolean): string =>
  (secure ? HOST_ONLY : '') + randomBytes(32).toString('base64url');

/** The secret records that its cookie has the `__Host-` prefix: it is not accepted from a cookie of another name. */
const HOST_ONLY = 'host.';
export const isHostOnly = (secret: string): boolean => secret.startsWith(HOST_ONLY);

export const browserDigest = (secret: string): string => createHash('sha256').update(secret).digest('base64url');

export function isBrowserOf(secret: string | undefined, digest: unknown): boolean {
  if (secret === undefined || typeof digest !== 'string') return false;
  const [presented, kept] = [Buffer.from(browserDigest(secret)), Buffer.from(digest)];
  return presented.length === kept.length && timingSafeEqual(presented, kept);
}

/** A value of 43 base64url characters for one purpose: a nonce, or a PKCE verifier (RFC 7636 §4.1). */
export const derived = (secret: string, purpose: 'nonce' | 'code-verifier'): string =>
  createHmac('sha256', secret).update(purpose).digest('base64url');
