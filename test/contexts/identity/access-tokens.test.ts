import { randomBytes, randomUUID } from 'node:crypto';
import { decodeProtectedHeader, SignJWT } from 'jose';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ACCESS_TOKEN_SECONDS, AccessTokens } from '../../../src/contexts/identity/access-tokens.ts';
import { asTenantId } from '../../../src/platform/kernel/ids.ts';
import { ed25519Key } from '../../../src/platform/vault/ed25519.ts';
import { Keyring } from '../../../src/platform/vault/keyring.ts';

const NOW = Date.parse('2026-06-01T12:00:00.000Z');
const MINUTE = 60_000;
const keyring = new Keyring(randomBytes(32));
const keyrings = { current: keyring, other: undefined };
const [tenantId, subjectId, sessionId] = [asTenantId(randomUUID()), randomUUID(), randomUUID()];
const issue = async (tokens: AccessTokens) =>
  (await tokens.issue('access', tenantId, subjectId, sessionId, 'viewer')).token;

/** A token signed with the key of a generation. Times are in seconds from now. */
const forged = (generation: number, { iat = 0, exp }: { iat?: number | null; exp: number }) => {
  const seconds = Math.floor(Date.now() / 1000);
  const token = new SignJWT({ tid: tenantId, sid: sessionId, role: 'super_admin', typ: 'access' })
    .setProtectedHeader({ alg: 'EdDSA', kid: `g${generation}`, typ: 'at+jwt' })
    .setSubject(subjectId)
    .setIssuer('castellan')
    .setExpirationTime(seconds + exp);
  return (iat === null ? token : token.setIssuedAt(seconds + iat)).sign(
    ed25519Key(keyring.key(`token-signing/${generation}`)),
  );
};

describe('an access token', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is accepted for fifteen minutes at most, whatever it claims and whichever key signed it', async () => {
    vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
    const tokens = new AccessTokens(keyrings, { number: 1, since: NOW });
    const tenYears = await forged(1, { exp: 10 * 365 * 86_400 });
    expect(await tokens.verify(await forged(1, { exp: 60 }))).toMatchObject({ subjectId });
    expect((await tokens.verify(tenYears))?.expiresAt).toBe(NOW + ACCESS_TOKEN_SECONDS * 1000);
    for (const wrong of [
      { iat: null, exp: 60 },
      { iat: -ACCESS_TOKEN_SECONDS - 1, exp: 60 },
      { iat: 600, exp: 700 },
    ])
      expect([wrong, await tokens.verify(await forged(1, wrong))]).toEqual([wrong, undefined]);
    // Also if it was accepted before, and is cached.
    vi.setSystemTime(NOW + 15 * MINUTE + 1);
    expect(await tokens.verify(tenYears)).toBeUndefined();
    expect(await new AccessTokens(keyrings, { number: 1, since: NOW }).verify(tenYears)).toBeUndefined();
  });

  it('of the previous generation is valid until it expires', async () => {
    vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
    const before = await issue(new AccessTokens(keyrings, { number: 1, since: NOW - 86_400_000 }));
    const tokens = new AccessTokens(keyrings, { number: 2, since: NOW });
    expect(decodeProtectedHeader(await issue(tokens)).kid).toBe('g2');
    vi.setSystemTime(NOW + 14 * MINUTE);
    expect(await tokens.verify(before)).toMatchObject({ sessionId });
  });

  it('signed with the former key is rejected once that is retired, however recent it claims to be', async () => {
    vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
    const tokens = new AccessTokens(keyrings, { number: 2, since: NOW });
    vi.setSystemTime(NOW + 14 * MINUTE);
    const late = await forged(1, { exp: 900 });
    expect(await tokens.verify(late)).toMatchObject({ sessionId });
    vi.setSystemTime(NOW + 15 * MINUTE + 1);
    // Neither a cached one nor a new one, nor in a process that starts now.
    for (const verifier of [tokens, new AccessTokens(keyrings, { number: 2, since: NOW })]) {
      for (const token of [late, await forged(1, { exp: 900 })]) expect(await verifier.verify(token)).toBeUndefined();
    }
    expect(await tokens.verify(await issue(tokens))).toMatchObject({ sessionId });
  });
});
