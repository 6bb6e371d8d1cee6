import { createPublicKey, type KeyObject } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { asTenantId, uuid, type TenantId } from '../../platform/kernel/ids.ts';
import { ed25519Key } from '../../platform/vault/ed25519.ts';
import type { Keyring } from '../../platform/vault/keyring.ts';
import type { Keyrings } from '../../platform/vault/keyrings.ts';
import type { TokenKeyGeneration } from './token-key-generation.ts';

/** What an access token says (choice OP-023). `typ` keeps tenant and organization tokens apart. */
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
/** How far the clocks of two nodes may be apart. */
const SKEW_SECONDS = 60;
const ISSUER = 'castellan';
const MAX_REMEMBERED = 20_000;

interface SigningKey {
  readonly id: string;
  readonly secret: KeyObject;
  readonly public: KeyObject;
  /** Epoch milliseconds from when on it is believed no more; infinite for the present ones. */
  readonly until: number;
}

/**
 * Access tokens: EdDSA-signed JWTs of 15 minutes. The key is derived from MASTER_KEY and a generation, so every node signs
 * alike and a rotation is one number. Tokens of another master key at hand, and of the generation before, stay good until they expire.
 * That generation is believed for one token's life longer and then retired: whoever has its key could sign on otherwise. No token is
 * believed for longer than that life, whatever it says of its own end.
 */
export class AccessTokens {
  readonly #keys: readonly SigningKey[];
  readonly #remembered = new LRUCache<string, AccessClaims>({ max: MAX_REMEMBERED });

  constructor({ current, other }: Keyrings, { number, since }: TokenKeyGeneration) {
    const retiresAt = since + ACCESS_TOKEN_SECONDS * 1000;
    this.#keys = [current, other].flatMap((keyring) => {
      if (!keyring) return [];
      const present = signingKey(keyring, number, Number.POSITIVE_INFINITY);
      return number > 1 ? [present, signingKey(keyring, number - 1, retiresAt)] : [present];
    });
  }

  async issue(
    kind: AccessClaims['kind'],
    tenantId: TenantId,
    subjectId: string,
    sessionId: string,
    role: string,
  ): Promise<{ token: string; expiresAt: string }> {
    const [key] = this.#keys;
    const now = Math.floor(Date.now() / 1000);
    const expires = now + ACCESS_TOKEN_SECONDS;
    const token = await new SignJWT({ tid: tenantId, sid: sessionId, role, typ: kind })
      .setProtectedHeader({ alg: 'EdDSA', kid: key!.id, typ: 'at+jwt' })
      .setSubject(subjectId)
      .setIssuer(ISSUER)
      .setIssuedAt(now)
      .setExpirationTime(expires)
      .sign(key!.secret);
    return { token, expiresAt: new Date(expires * 1000).toISOString() };
  }

  /** The claims of a token that this house signed and that has not expired; undefined for everything else. */
  async verify(token: string): Promise<AccessClaims | undefined> {
    const known = this.#remembered.get(token);
    if (known) return known.expiresAt > Date.now() ? known : undefined;
    if (token.length > 2_048) return undefined;
    const claims = await this.#claimsOf(token);
    // A signature that was good once stays good: a second look costs a look into memory.
    if (claims) this.#remembered.set(token, claims);
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
        // Its life would begin later, and so end later.
        if (iat > Date.now() / 1000 + SKEW_SECONDS) return undefined;
        const expiresAt = Math.min(exp * 1000, (iat + ACCESS_TOKEN_SECONDS) * 1000, until);
        if (expiresAt <= Date.now()) return undefined;
        return { kind: typ, tenantId: asTenantId(tid), subjectId: sub, sessionId: sid, expiresAt };
      } catch {
        // not with this one
      }
    }
    return undefined;
  }
}

function signingKey(keyring: Keyring, generation: number, until: number): SigningKey {
  const secret = ed25519Key(keyring.key(`token-signing/${generation}`));
  return { id: `g${generation}`, secret, public: createPublicKey(secret), until };
}
