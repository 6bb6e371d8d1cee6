import { createHmac, randomUUID, sign, type KeyObject } from 'node:crypto';
import { LOGOUT_EVENT } from '../../src/contexts/sso/logout-token.ts';

/** How a logout token differs from a correct one. `undefined` removes a member. */
export interface LogoutTokenFault {
  readonly header?: Record<string, unknown>;
  readonly claims?: Record<string, unknown>;
  /** `none`: no signature; `hmac`: with the public key as secret. */
  readonly signature?: 'none' | 'hmac';
  /** Instead of the issuer's key. */
  readonly key?: KeyObject;
}

export interface LogoutTokenIssuer {
  readonly issuer: string;
  readonly clientId: string;
  readonly key: KeyObject;
  readonly publicPem: string;
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A logout token (OpenID Connect Back-Channel Logout 1.0 §2.4) of an issuer whose key is called `k1`. */
export function logoutToken(
  { issuer, clientId, key, publicPem }: LogoutTokenIssuer,
  about: { readonly sub?: string; readonly sid?: string },
  fault: LogoutTokenFault = {},
): string {
  const now = Math.floor(Date.now() / 1_000);
  const alg = fault.signature === 'none' ? 'none' : fault.signature === 'hmac' ? 'HS256' : 'RS256';
  const claims = {
    iss: issuer,
    aud: clientId,
    iat: now,
    exp: now + 120,
    jti: randomUUID(),
    events: { [LOGOUT_EVENT]: {} },
    ...about,
    ...fault.claims,
  };
  const input = `${encoded({ alg, typ: 'logout+jwt', kid: 'k1', ...fault.header })}.${encoded(claims)}`;
  if (fault.signature === 'none') return `${input}.`;
  const signature =
    fault.signature === 'hmac'
      ? createHmac('sha256', publicPem).update(input).digest()
      : sign('sha256', Buffer.from(input), fault.key ?? key);
  return `${input}.${signature.toString('base64url')}`;
}
