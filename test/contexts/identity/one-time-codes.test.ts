import { describe, expect, it, vi } from 'vitest';
import { backupCodeField, newBackupCodes, indexOfCode } from '../../../src/contexts/identity/backup-codes.ts';
import { TooManyWaiting } from '../../../src/contexts/identity/hashing-limiter.ts';
import { Passwords } from '../../../src/contexts/identity/passwords.ts';
import { isRecoveryKey } from '../../../src/contexts/identity/recovery.ts';
import { newTotpSecret, otpauthUrl, qrCode, stepOfCode, totpCodeField } from '../../../src/contexts/identity/totp.ts';
import { cheapPasswords } from '../../dsl/cheap-passwords.ts';

/** RFC 6238, appendix B: the secret "12345678901234567890" in base 32, and the last six of its eight digits. */
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

describe('a time-based code', () => {
  it.each([
    [59, '287082', 1],
    [1_111_111_109, '081804', 37_037_036],
    [1_111_111_111, '050471', 37_037_037],
    [1_234_567_890, '005924', 41_152_263],
    [2_000_000_000, '279037', 66_666_666],
    [20_000_000_000, '353130', 666_666_666],
  ])('at second %i is %s', async (second, code, step) => {
    expect(await stepOfCode(RFC_SECRET, code, second * 1000)).toBe(step);
  });

  it('is valid one step before and after its own, and no further', async () => {
    // The step of 1234567890 begins at exactly that second.
    const [start, end] = [1_234_567_890_000, 1_234_567_919_999];
    for (const [now, right] of [
      [start - 30_000, true],
      [start - 30_001, false],
      [start, true],
      [end, true],
      [end + 30_000, true],
      [end + 30_001, false],
    ] as const) {
      expect([now, await stepOfCode(RFC_SECRET, '005924', now)]).toEqual([now, right ? 41_152_263 : undefined]);
    }
  });

  it('is invalid for another secret', async () => {
    expect(await stepOfCode(newTotpSecret(), '005924', 1_234_567_890_000)).toBeUndefined();
  });

  it('comes from a secret of 160 bits, which an app can scan', async () => {
    const secret = newTotpSecret();
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    const url = new URL(otpauthUrl(secret, 'ada@acme.example'));
    expect([
      url.protocol,
      url.host,
      decodeURIComponent(url.pathname),
      url.searchParams.get('secret'),
      url.searchParams.get('issuer'),
    ]).toEqual(['otpauth:', 'totp', '/Castellan:ada@acme.example', secret, 'Castellan']);
    const picture = await qrCode(url.href);
    expect(picture).toMatch(/^data:image\/png;base64,/);
    expect(Buffer.from(picture.split(',')[1]!, 'base64').subarray(1, 4).toString()).toBe('PNG');
  });

  it.each([
    ['123456', true],
    ['123 456', true],
    ['12345', false],
    ['1234567', false],
    ['12345a', false],
    ['', false],
  ])('is read from %j: %s', (text, right) => {
    expect(totpCodeField.safeParse(text).success).toBe(right);
  });
});

describe('backup codes', () => {
  it('are ten different ones, each found at its position in any spelling, and no others', async () => {
    const passwords = new Passwords();
    const { codes, kept } = await newBackupCodes(passwords);
    expect(new Set(codes).size).toBe(10);
    for (const [place, code] of codes.entries()) {
      expect(code).toMatch(/^[A-Z2-9]{5}-[A-Z2-9]{5}$/);
      expect(
        await indexOfCode(
          kept,
          backupCodeField.parse(place % 2 === 0 ? code : ` ${code.toLowerCase().replace('-', '')} `),
          passwords,
        ),
      ).toBe(place);
      expect(kept).not.toContain(code.slice(0, 5));
    }
    expect(await indexOfCode(kept, 'AAAAAAAAAA', passwords)).toBeUndefined();
  });
});

describe('passwords', () => {
  it("are hashed with at least OWASP's parameters, and an unknown account costs the same", async () => {
    const passwords = new Passwords();
    const hash = await passwords.hash('x');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await passwords.verify(hash, 'x')).toBe(true);
    const verify = vi.spyOn(passwords, 'verify');
    expect(await passwords.verifyDummyPassword('x')).toBe(false);
    expect(verify.mock.lastCall![0].split('$').slice(0, 4)).toEqual(hash.split('$').slice(0, 4));
    expect(verify.mock.lastCall![0]).toHaveLength(hash.length);
  });

  it('are refused above a limit of concurrent ones, not queued without limit', async () => {
    const passwords = cheapPasswords();
    const outcomes = await Promise.allSettled(Array.from({ length: 300 }, () => passwords.verifyDummyPassword('x')));
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).toHaveLength(300 - 3 - 256);
    for (const { reason } of refused) expect(reason).toBeInstanceOf(TooManyWaiting);
  });
});

describe('the recovery key', () => {
  it.each([
    ['the-recovery-key', true],
    ['the-recovery-kez', false],
    ['the-recovery-key-and-more', false],
    ['', false],
  ])('matches %j: %s', (presented, right) => {
    expect(isRecoveryKey(presented, 'the-recovery-key')).toBe(right);
  });
});
