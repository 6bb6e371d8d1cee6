import { decodeJwt, decodeProtectedHeader } from 'jose';
import { z } from 'zod';
import { sameIssuer } from './openid-refusals.ts';
import { AHEAD_SECONDS, SIGNATURE_ALGORITHMS, SKEW_SECONDS } from './openid-signatures.ts';

/** OpenID Connect Back-Channel Logout 1.0 §2.4. */
export const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** A token without an end counts this long, and no token counts longer: so long its id is remembered. */
export const LOGOUT_TOKEN_SECONDS = 600;

/** Whom a provider logged out: one session of it, or a person. At least one of the first two is set. */
export interface LoggedOut {
  readonly subject: string | undefined;
  /** The session at the provider (`sid`). */
  readonly providerSessionId: string | undefined;
  /** Unique for each token of the issuer (`jti`). */
  readonly tokenId: string;
  /** By the issuer's clock, in epoch seconds. */
  readonly issuedAt: number;
}

/** A logout token that ends nothing. The detail, a claim's name or a cause, is for the audit log and the provider. */
export class LogoutRefused extends Error {
  readonly detail: string;
  constructor(detail: string) {
    super(`logout refused: ${detail}`);
    this.name = 'LogoutRefused';
    this.detail = detail;
  }
}

const name = z.string().min(1).max(1_024);
const seconds = z.number();
const claimsSchema = z.object({
  iss: name,
  aud: z.union([z.string(), z.array(z.string())]),
  iat: seconds,
  // Required since the final version of the specification; providers of earlier drafts leave it out.
  exp: seconds.optional(),
  jti: name,
  sub: name.optional(),
  sid: name.optional(),
  events: z.looseObject({ [LOGOUT_EVENT]: z.looseObject({}) }),
  // An ID token has one: it must not pass for a logout token (§2.4).
  nonce: z.undefined().optional(),
});

/** `logout+jwt` is recommended (§2.4); Keycloak and LemonLDAP::NG send the general type or none. */
const TYPES: readonly unknown[] = [undefined, 'jwt', 'logout+jwt', 'application/logout+jwt'];

interface Expected {
  readonly issuerUrl: string;
  readonly clientId: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * Reads a logout token and checks everything except its signature and whether it was used (§2.6). Nothing is fetched,
 * so a token that cannot count costs no request to the issuer. Throws `LogoutRefused`.
 */
export function readLogoutToken(token: string, { issuerUrl, clientId, now }: Expected): LoggedOut {
  checkHeader(token);
  const { iss, aud, iat, exp, jti, sub, sid } = claimsOf(token);
  if (!sameIssuer(iss, issuerUrl)) throw new LogoutRefused('iss');
  if (![aud].flat().includes(clientId)) throw new LogoutRefused('aud');
  const age = now / 1_000 - iat;
  if (age < -AHEAD_SECONDS || age > LOGOUT_TOKEN_SECONDS + SKEW_SECONDS) throw new LogoutRefused('iat');
  if (exp !== undefined && now / 1_000 - exp > SKEW_SECONDS) throw new LogoutRefused('exp');
  if (sub === undefined && sid === undefined) throw new LogoutRefused('sub');
  return { subject: sub, providerSessionId: sid, tokenId: jti, issuedAt: iat };
}

function checkHeader(token: string): void {
  const { alg, typ } = decoded(() => decodeProtectedHeader(token));
  if (alg === undefined || !SIGNATURE_ALGORITHMS.has(alg)) throw new LogoutRefused('alg');
  if (!TYPES.includes(typeof typ === 'string' ? typ.toLowerCase() : typ)) throw new LogoutRefused('typ');
}

function claimsOf(token: string): z.output<typeof claimsSchema> {
  const claims = claimsSchema.safeParse(decoded(() => decodeJwt(token)));
  if (!claims.success) throw new LogoutRefused(String(claims.error.issues[0]?.path[0] ?? 'malformed'));
  return claims.data;
}

function decoded<Decoded>(decode: () => Decoded): Decoded {
  try {
    return decode();
  } catch {
    throw new LogoutRefused('malformed');
  }
}
