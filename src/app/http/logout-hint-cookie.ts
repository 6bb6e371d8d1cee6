import type { FastifyRequest } from 'fastify';
import { cookiesOf } from './browser-cookie.ts';
import type { ResponseHead } from './response-head.ts';

/** Browsers drop cookies above 4096 bytes; a token with hundreds of groups is one. */
const MOST_CHARACTERS = 3_600;

/**
 * Keeps the ID token of a sign-in in the browser, for the logout at its provider (RP-Initiated Logout 1.0, §2:
 * `id_token_hint`). The browser sends it to the logout route only, scripts cannot read it, and it ends with the
 * browser. The service accepts no ID token as a credential.
 */
export function setLogoutHint(
  reply: ResponseHead,
  path: string,
  { idToken, secure }: { readonly idToken: string; readonly secure: boolean },
): void {
  const kept = idToken.length <= MOST_CHARACTERS ? idToken : '';
  writeLogoutHint(reply, path, secure, kept);
}

export const clearLogoutHint = (reply: ResponseHead, path: string, secure: boolean): void =>
  writeLogoutHint(reply, path, secure, '');

function writeLogoutHint(reply: ResponseHead, path: string, secure: boolean, value: string): void {
  const always = `Path=${path}; HttpOnly; SameSite=Strict${value === '' ? '; Max-Age=0' : ''}`;
  reply.header('set-cookie', `${nameFor(secure)}=${value}; ${always}${secure ? '; Secure' : ''}`);
}

export function readLogoutHint({ headers }: FastifyRequest): string | undefined {
  const kept = cookiesOf(headers.cookie ?? '');
  return (kept.get(nameFor(true)) ?? kept.get(nameFor(false))) || undefined;
}

/** `__Secure-` and not `__Host-`, which would need the path `/` and travel with every request. */
const nameFor = (secure: boolean): string => `${secure ? '__Secure-' : ''}castellan-logout-hint`;
