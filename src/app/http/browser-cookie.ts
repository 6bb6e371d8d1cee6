import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isHostOnly } from '../../contexts/identity/browser-binding.ts';

/**
 * A cookie that holds a secret for one token of a sign-in under way: several tabs have several. Sent along when a
 * provider's redirect comes back to us (`Lax`), never readable by a script, and gone with the token's time.
 */
export function setBrowserSecret(
  reply: FastifyReply,
  token: string,
  secret: string,
  { seconds, secure }: { readonly seconds: number; readonly secure: boolean },
): void {
  const always = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}`;
  reply.header('set-cookie', `${nameFor(token, secure)}=${secret}; ${always}${secure ? '; Secure' : ''}`);
}

export const clearBrowserSecret = (reply: FastifyReply, token: string, secure: boolean): void =>
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

/** `__Host-` (RFC 6265bis §4.1.3): no sibling host can have set it, so nobody can slip a browser somebody else's sign-in. */
const nameFor = (token: string, secure: boolean): string =>
  `${secure ? '__Host-' : ''}castellan-sso-${createHash('sha256').update(token).digest('hex').slice(0, 16)}`;
