import { createPublicKey, type KeyObject } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { asTenantId, uuid, type TenantId } from '../../platform/kernel/ids.ts';
import { ed25519Key } from '../../platform/vault/ed25519.ts';
import type { Keyring } from '../../platform/vault/keyring.ts';
import type { Keyrings } from '../../platform/vault/keyrings.ts';
import type { TokenKeyGeneration } from './token-key-generation.ts';

/** The claims of an access token (OP-023). `typ` separates tenant tokens from organization tokens. */
const claimsSchema = z.object({
  sub: uuid(),
  tid: uuid(),
  sid: uuid(),
  typ: z.enum(['access', 'org']),
  iat: z.number(),
  exp: z.number(),
});

export interface AccessClaims {
  readonly kind: 'access' | 'org';
  readonly tenantId: TenantId;
  readonly subjectId: string;
  readonly sessionId: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

export const ACCESS_TOKEN_SECONDS = 15 * 60;
/** Maximum clock difference between two nodes. */
const SKEW_SECONDS = 60;
const ISSUER = 'castellan';
const MAX_CACHED = 20_000;

interface SigningKey {
  readonly id: string;
  readonly secret: KeyObject;
  readonly public: KeyObject;
  /** Epoch milliseconds after which the key is no longer accepted; infinite for current keys. */
  readonly until: number;
}

/**
 * Access tokens: EdDSA-signed JWTs that are valid for 15 minutes.
 *
 * The key is derived from MASTER_KEY and a generation. So every node signs with the same key, and a rotation changes
 * one number.
 *
 * Tokens of another available master key and of the previous generation stay valid until they expire. The previous
 * generation is accepted for one more token lifetime and then retired: otherwise a leaked key could sign tokens
 * forever. No token is accepted for longer than that lifetime, whatever its `exp` says.
 */
export class AccessTokens {
  readonly #keys: readonly SigningKey[];
  readonly #verified = new LRUCache<string, AccessClaims>({ maxSize: MAX_CACHED, sizeCalculation: () => 1 });

  constructor({ current, other }: Keyrings, { number, since }: TokenKeyGeneration) {
    const retiresAt = since + ACCESS_TOKEN_SECONDS * 1000;
    this.#keys = [current, other].flatMap((keyring) => {
      if (!keyring) return [];
      const present = signingKey(keyring, number, Number.POSITIVE_INFINITY);
      return number > 1 ? [present, signingKey(keyring, number - 1, retiresAt)] : [present];
    });
  }

  /** `until`: epoch milliseconds at which the session ends. */
  async issue(
    kind: AccessClaims['kind'],
    tenantId: TenantId,
    subjectId: string,
    sessionId: string,
    role: string,
    until = Number.POSITIVE_INFINITY,
  ): Promise<{ token: string; expiresAt: string }> {
    const [key] = this.#keys;
    const now = Math.floor(Date.now() / 1000);
    const expires = Math.min(now + ACCESS_TOKEN_SECONDS, Math.floor(until / 1000));
    const token = await new SignJWT({ tid: tenantId, sid: sessionId, role, typ: kind })
      .setProtectedHeader({ alg: 'EdDSA', kid: key!.id, typ: 'at+jwt' })
      .setSubject(subjectId)
      .setIssuer(ISSUER)
      .setIssuedAt(now)
      .setExpirationTime(expires)
      .sign(key!.secret);
    return { token, expiresAt: new Date(expires * 1000).toISOString() };
  }

  /** The claims of a token that this installation signed and that has not expired; undefined for every other token. */
  async verify(token: string): Promise<AccessClaims | undefined> {
    const known = this.#verified.get(token);
    if (known) return known.expiresAt > Date.now() ? known : undefined;
    if (token.length > 2_048) return undefined;
    const claims = await this.#claimsOf(token);
    // A verified signature stays valid, so the cache saves the second verification.
    if (claims) this.#verified.set(token, claims);
    return claims;
  }

  async #claimsOf(token: string): Promise<AccessClaims | undefined> {
    for (const { id, public: key, until } of this.#keys) {
      if (until <= Date.now()) continue;
      const keyOf = ({ kid }: { kid?: string }) => (kid === id ? key : Promise.reject(new Error('another key')));
      try {
        const { payload } = await jwtVerify(token, keyOf, {
          algorithms: ['EdDSA'],
          typ: 'at+jwt',
          issuer: ISSUER,
          maxTokenAge: ACCESS_TOKEN_SECONDS,
        });
        const { typ, tid, sub, sid, iat, exp } = claimsSchema.parse(payload);
        // A later start would also mean a later end.
        if (iat > Date.now() / 1000 + SKEW_SECONDS) return undefined;
        const expiresAt = Math.min(exp * 1000, (iat + ACCESS_TOKEN_SECONDS) * 1000, until);
        if (expiresAt <= Date.now()) return undefined;
        return { kind: typ, tenantId: asTenantId(tid), subjectId: sub, sessionId: sid, expiresAt };
      } catch {
        // not signed with this key
      }
    }
    return undefined;
  }
}

function signingKey(keyring: Keyring, generation: number, until: number): SigningKey {
  const secret = ed25519Key(keyring.key(`token-signing/${generation}`));
  return { id: `g${generation}`, secret, public: createPublicKey(secret), until };
}
