import { createECDH, createPrivateKey, createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { P256_PUBLIC_KEY_PREFIX, generateKeyPair, pkcs8 } from '../../../src/platform/pki/key-pair.ts';
import { keyWeakness, keysMatch } from '../../../src/platform/pki/signature-algorithm.ts';

const publicKey = (point: Buffer) =>
  createPublicKey({ key: Buffer.concat([P256_PUBLIC_KEY_PREFIX, point]), format: 'der', type: 'spki' });

describe('P-256 key pairs', () => {
  it('match, are fresh, and are what OpenSSL calls P-256', () => {
    const pairs = Array.from({ length: 50 }, generateKeyPair);
    for (const { publicPoint, privateKeyPem } of pairs) {
      const privateKey = createPrivateKey(privateKeyPem);
      expect(privateKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
      expect(keysMatch(privateKey, publicKey(publicPoint))).toBe(true);
    }
    expect(new Set(pairs.map(({ privateKeyPem }) => privateKeyPem)).size).toBe(pairs.length);
  });

  it('are written with all 32 octets of a private key that begins with zeros', () => {
    const generator = createECDH('prime256v1');
    generator.setPrivateKey(Buffer.concat([Buffer.alloc(3), Buffer.alloc(29, 0x5a)]));
    const scalar = generator.getPrivateKey().subarray(-29);
    const key = createPrivateKey({ key: pkcs8(scalar, generator.getPublicKey()), format: 'der', type: 'pkcs8' });
    expect(keysMatch(key, publicKey(generator.getPublicKey()))).toBe(true);
    expect(key.export({ format: 'der', type: 'pkcs8' }).equals(pkcs8(scalar, generator.getPublicKey()))).toBe(true);
  });

  it('match only their own other half, even in a file that claims another one', () => {
    const [one, other] = [generateKeyPair(), generateKeyPair()];
    expect(keysMatch(createPrivateKey(one.privateKeyPem), publicKey(other.publicPoint))).toBe(false);
    const claimed = pkcs8(Buffer.alloc(32, 7), one.publicPoint);
    expect(
      keysMatch(createPrivateKey({ key: claimed, format: 'der', type: 'pkcs8' }), publicKey(one.publicPoint)),
    ).toBe(false);
  });

  it('are strong by the rule for uploads', () => {
    expect(keyWeakness(createPrivateKey(generateKeyPair().privateKeyPem))).toBeUndefined();
  });
});
