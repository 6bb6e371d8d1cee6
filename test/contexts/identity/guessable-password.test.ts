import { describe, expect, it } from 'vitest';
import { newPassword } from '../../../src/contexts/identity/domain/password-rule.ts';
import {
  commonPasswordReason,
  guessablePasswordReason,
} from '../../../src/contexts/identity/domain/guessable-password.ts';
import { randomPassword } from '../../../src/contexts/identity/passwords.ts';

describe('a guessable password', () => {
  it.each([
    'Password123!',
    'password123!',
    'P@ssw0rd1234!',
    'Pa$$w0rd-2024',
    '!!Passw0rd!!',
    'Welcome-2026!',
    'Welc0m3!2026',
    'Administrator1!',
    'Qwertyuiop12!',
    'Summer-2026-!!',
    'September2026!',
    'ILoveYou1234!',
    'I-love-you-1234!',
    'Password-Password-1!',
    'ChangeMe-12345!',
    'Ｐａｓｓｗｏｒｄ123!',
  ])('is refused: %s', (password) => {
    expect(commonPasswordReason(password)).toBe('must not be a common password, even with digits or signs added');
  });

  it.each(['Aa1!Aa1!Aa1!', 'AAAAaaaa1111!'])('is rejected for too few distinct characters: %s', (password) => {
    expect(commonPasswordReason(password)).toBe('must have more different characters');
  });

  it.each(['Correct-Horse-7!', 'Another-Horse-8!', 'violet-Tractor-hums-42!', 'xK7#mQ2$vN9@'])(
    'is not %s',
    (password) => {
      expect(commonPasswordReason(password)).toBeUndefined();
    },
  );

  it('is never generated', () => {
    for (let n = 0; n < 500; n += 1) expect(commonPasswordReason(randomPassword())).toBeUndefined();
  });

  it('is rejected by the input field for new passwords, which gives the reason', () => {
    expect(newPassword.safeParse('Password123!').error?.issues.map(({ message }) => message)).toEqual([
      'must not be a common password, even with digits or signs added',
    ]);
    expect(newPassword.safeParse('Correct-Horse-7!').success).toBe(true);
  });

  it.each([
    `${'!'.repeat(126)}Aa1${'!'.repeat(127)}`,
    `${'Ab'.repeat(127)}1!`,
    `${'Aa1!'.repeat(64)}`,
    `A${'1'.repeat(253)}a!`,
  ])('may have any format: %#', (password) => {
    expect(password.length).toBeLessThanOrEqual(256);
    for (let n = 0; n < 20; n += 1)
      expect(['string', 'undefined']).toContain(
        typeof guessablePasswordReason(password, ['owner@acme.example', 'Ada Lovelace', 'Acme']),
      );
  });
});

describe('a password that is built from known names', () => {
  const known = ['grace.hopper@navy-yard.example', 'Grace B. Hopper', 'Flying Turtles Ltd'];

  it.each([
    'Grace-Hopper-1906!',
    'GraceHopper1906!',
    'Hopper@1906!!',
    'H0pper-1906-!!',
    'NavyYard-2026!',
    'FlyingTurtles#1',
    'Flying-Turtles-Ltd-1!',
    'Castellan-2026!',
    'Hopper-Password1!',
  ])('is rejected: %s', (password) => {
    expect(guessablePasswordReason(password, known)).toMatch(/^must not be/);
  });

  it.each(['Correct-Horse-7!', 'Grace-sails-at-nine-7!', 'turtles-Quarry-lamp-3!'])('is not %s', (password) => {
    expect(guessablePasswordReason(password, known)).toBeUndefined();
  });

  it('does not exist if the names are too short', () => {
    expect(guessablePasswordReason('Correct-Horse-7!', ['a@b.example', 'Al', ''])).toBeUndefined();
  });
});
