import { beforeEach, describe, expect, it, vi } from 'vitest';

vi.mock('../../../src/contexts/identity/domain/guessable-password.ts', { spy: true });
// Files of one worker share their modules: a rule that another file has loaded calls the original, not the spy.
vi.resetModules();
const guessable = await import('../../../src/contexts/identity/domain/guessable-password.ts');
const { newPassword, presentedPassword } = await import('../../../src/contexts/identity/domain/password-rule.ts');

const LONGEST = 256;
const good = 'Vq7!kd-Wm2#zr-';

describe('a new password', () => {
  beforeEach(() => void vi.clearAllMocks());

  it.each([
    ['one character longer than the limit', good.padEnd(LONGEST + 1, 'xY3$')],
    ['as large as a request may be', good.padEnd(1_000_000, 'a1!B')],
    ['too short', 'Vq7!kd-Wm2#'],
  ])('is rejected for its length only when it is %s: it is not compared with known passwords', (_what, text) => {
    const { success, error } = newPassword.safeParse(text);
    expect(success).toBe(false);
    expect(error!.issues).toHaveLength(1);
    // Counted, not compared: a failure would print the password.
    expect(vi.mocked(guessable.commonPasswordReason).mock.calls.length).toBe(0);
  });

  it('of the maximum length is checked and accepted', () => {
    expect(newPassword.safeParse(good.padEnd(LONGEST, 'xY3$kq')).success).toBe(true);
    expect(vi.mocked(guessable.commonPasswordReason).mock.calls.length).toBe(1);
  });

  it('has the same maximum length as a presented one', () => {
    expect(presentedPassword.safeParse('a'.repeat(LONGEST)).success).toBe(true);
    expect(presentedPassword.safeParse('a'.repeat(LONGEST + 1)).success).toBe(false);
  });
});
