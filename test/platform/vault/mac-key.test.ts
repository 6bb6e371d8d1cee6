import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { decrypt, encrypt, Keyring } from '../../../src/platform/vault/keyring.ts';
import { MacKey } from '../../../src/platform/vault/mac-key.ts';

const TEXTS = ['', 'a', 'grüße \u{1f511}', '\ud800', 'x'.repeat(500), 'ü'.repeat(5_000), 'short again'];

describe('a key for MACs', () => {
  it.each([0, 16, 32, 64])('of %d bytes gives what HMAC-SHA256 gives', (size) => {
    const key = randomBytes(size);
    const mine = new MacKey(key);
    for (const text of TEXTS) {
      expect(mine.mac(text)).toBe(createHmac('sha256', key).update(text).digest('hex'));
      expect(mine.mac(text, 'and more')).toBe(createHmac('sha256', key).update(`${text}and more`).digest('hex'));
    }
  });

  it('is no longer than a block', () => {
    expect(() => new MacKey(randomBytes(65))).toThrow('longer');
  });
});

describe('a keyring', () => {
  it('digests as HMAC-SHA256 under the key of the purpose', () => {
    const keyring = new Keyring(randomBytes(32));
    const digest = keyring.digester('claim');
    for (const text of TEXTS)
      expect(digest(text)).toBe(createHmac('sha256', keyring.key('claim')).update(text).digest('hex'));
  });
});

describe('encryption', () => {
  it('never repeats a nonce, however many values are encrypted', () => {
    const key = randomBytes(32);
    const sealed = Array.from({ length: 2_000 }, (_, n) => encrypt(key, Buffer.from(`text ${n}`), 'here'));
    expect(new Set(sealed.map((one) => one.toString('latin1', 0, 12))).size).toBe(2_000);
    sealed.forEach((one, n) => expect(decrypt(key, one, 'here').toString()).toBe(`text ${n}`));
  });
});
