import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { KnownBrowsers } from '../../../src/contexts/identity/known-browsers.ts';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-06-01T12:00:00.000Z');
const account = { scope: 'tenant', accountDigest: 'digest' };
const [key, other] = [randomBytes(32), randomBytes(32)];
const browsers = new KnownBrowsers([key]);

describe('a browser that has signed in', () => {
  const token = browsers.issue(account, NOW);

  it('is recognized individually', () => {
    const known = browsers.recognize(account, token, NOW + DAY_MS);
    expect(known).toEqual({ id: expect.stringMatching(/^[\w-]{16}$/), isDueForRenewal: false });
    expect(browsers.recognize(account, browsers.issue(account, NOW), NOW)!.id).not.toBe(known!.id);
  });

  it('is renewed after a month, and unknown after three without a sign-in', () => {
    expect(browsers.recognize(account, token, NOW + 31 * DAY_MS)!.isDueForRenewal).toBe(true);
    expect(browsers.recognize(account, token, NOW + 91 * DAY_MS)).toBeUndefined();
  });

  it('is recognized by a key that is being replaced', () => {
    expect(new KnownBrowsers([other, key]).recognize(account, token, NOW)).toBeDefined();
    expect(new KnownBrowsers([other]).recognize(account, token, NOW)).toBeUndefined();
  });

  it.each([
    ['another account', { ...account, accountDigest: 'another' }, token],
    ['another tenant', { ...account, scope: 'another' }, token],
    ['another id', account, token.replace(/^.{4}/, 'AAAA')],
    ['a later time', account, token.replace(/\.[0-9a-z]+\./, '.zzzzzz.')],
    ['another signature', account, token.replace(/.{4}$/, 'AAAA')],
    ['nothing', account, undefined],
    ['nonsense', account, 'nonsense'],
    ['too much', account, `${token}.x`],
  ])('cannot be forged for %s', (_what, whose, presented) => {
    expect(browsers.recognize(whose, presented, NOW)).toBeUndefined();
  });
});
