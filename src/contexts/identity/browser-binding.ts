import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * What makes a way out to a provider and back one browser's own: a secret that only its cookie holds. The house keeps its
 * digest; what the provider has to give back is derived from it, so nothing that is kept here is worth stealing.
 */
export const newBrowserSecret = (secure: boolean): string =>
  (secure ? HOST_ONLY : '') + randomBytes(32).toString('base64url');

/** Where the cookie's name has the `__Host-` prefix, the secret says so: under another name it is worth nothing. */
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
