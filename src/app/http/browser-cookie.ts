import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { isHostOnly } from '../../contexts/identity/browser-binding.ts';
import type { ResponseHead } from './response-head.ts';

/**
 * Sets a cookie with a secret for one token of a pending sign-in; each tab has its own. The browser sends it when the
 * provider redirects back (`Lax`). Scripts cannot read it, and it expires with the token.
 */
export function setBrowserSecret(
  reply: ResponseHead,
  token: string,
  secret: string,
  { seconds, secure }: { readonly seconds: number; readonly secure: boolean },
): void {
  const always = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}`;
  reply.header('set-cookie', `${nameFor(token, secure)}=${secret}; ${always}${secure ? '; Secure' : ''}`);
}

export const clearBrowserSecret = (reply: ResponseHead, token: string, secure: boolean): void =>
  setBrowserSecret(reply, token, '', { seconds: 0, secure });

export function readBrowserSecret({ headers }: FastifyRequest, token: string): string | undefined {
  const kept = cookiesOf(headers.cookie ?? '');
  const [hostOnly, plain] = [kept.get(nameFor(token, true)), kept.get(nameFor(token, false))];
  if (hostOnly !== undefined) return isHostOnly(hostOnly) ? hostOnly : undefined;
  return plain === undefined || isHostOnly(plain) ? undefined : plain;
}

/** The cookies of a `Cookie` header, by name. */
export const cookiesOf = (header: string): ReadonlyMap<string, string> =>
  new Map(header.split(';').map((pair) => [pair.split('=', 1)[0]!.trim(), pair.slice(pair.indexOf('=') + 1).trim()]));

/** `__Host-` (RFC 6265bis §4.1.3): no sibling host can set it, which prevents login CSRF. */
const nameFor = (token: string, secure: boolean): string =>
  `${secure ? '__Host-' : ''}castellan-sso-${createHash('sha256').update(token).digest('hex').slice(0, 16)}`;
