import { describe, expect, it } from 'vitest';
import { attemptLogin } from '../../../commands/auth/attempt-login.ts';
import { confirmPassword } from '../../../commands/auth/confirm-password.ts';
import { unlockLogin } from '../../../commands/auth/unlock-login.ts';
import { given, NOW } from '../../dsl/given.ts';

const SUBJECT = '44444444-4444-4444-8444-444444444444';
const iso = (secondsAgo: number) => new Date(NOW - secondsAgo * 1000).toISOString();
const tried = (secondsAgo: number, locked = false) => ({ type: 'LoginAttempted', data: { at: iso(secondsAgo), subjectId: SUBJECT, locked } });
const succeeded = (secondsAgo: number) => ({ type: 'LoginSucceeded', data: { at: iso(secondsAgo), subjectId: SUBJECT } });
const confirmed = (secondsAgo: number, tries: readonly string[] = []) => ({
  type: 'PasswordConfirmed',
  data: { at: iso(secondsAgo), subjectId: SUBJECT, purpose: 'second_factor_follows', tries },
});
const four = [tried(100), tried(90), tried(80), tried(70)];

const password = { accountDigest: 'digest', subjectId: SUBJECT, factor: 'password' } as const;
const code = { ...password, factor: 'code' } as const;

describe('a try', () => {
  it('is granted five times', () => {
    given(...four).when(attemptLogin, password).then(tried(0));
    expect(given(...four).when(attemptLogin, code).result()).toEqual({ locked: false, at: NOW });
  });

  it('is granted to look at a password while locked, five times, and never to look at a code', () => {
    const locked = [...four, tried(60)];
    given(...locked).when(attemptLogin, password).then(tried(0, true));
    given(...locked).when(attemptLogin, code).thenRefused('forbidden', 'account locked');
    const exhausted = [...locked, ...[50, 40, 30, 20, 10].map((ago) => tried(ago, true))];
    given(...exhausted).when(attemptLogin, password).thenRefused('unauthenticated', 'invalid credentials');
    given(...exhausted).when(attemptLogin, code).thenRefused('forbidden', 'account locked');
  });

  it('is granted again after 15 minutes, five times anew', () => {
    const past = [tried(1_100), tried(1_090), tried(1_080), tried(1_070), tried(1_060)];
    given(...past).when(attemptLogin, code).then(tried(0));
    given(...past, tried(4), tried(3), tried(2), tried(1)).when(attemptLogin, code).then(tried(0));
    given(...past, tried(5), tried(4), tried(3), tried(2), tried(1)).when(attemptLogin, code).thenRefused('forbidden');
  });

  it('that is older than 15 minutes does not count', () => {
    given(tried(1_000), tried(80), tried(70), tried(60), tried(50)).when(attemptLogin, code).then(tried(0));
  });

  it('counts no more after a success or an unlocking', () => {
    given(...four, tried(60), succeeded(50)).when(attemptLogin, code).then(tried(0));
    given(...four, tried(60)).when(unlockLogin, { accountDigest: 'digest', subjectId: SUBJECT }).thenTypes('LoginUnlocked');
    given().when(unlockLogin, { accountDigest: 'digest', subjectId: SUBJECT }).thenNothing();
  });
});

describe('a right password where a code is asked for besides', () => {
  const confirm = { accountDigest: 'digest', subjectId: SUBJECT, triedAt: NOW - 60_000, purpose: 'second_factor_follows' } as const;

  it('gives back its own try and forgives no other', () => {
    given(tried(100), tried(90), tried(60)).when(confirmPassword, confirm).then(confirmed(0, [iso(100), iso(90)]));
  });

  it('so that whoever knows it has no more tries for codes than anybody', () => {
    const wrongCodes = [tried(100), tried(60), confirmed(59, [iso(100)]), tried(50), tried(40), tried(30), tried(20)];
    given(...wrongCodes).when(attemptLogin, code).thenRefused('forbidden', 'account locked');
    given(...wrongCodes.slice(0, -1)).when(attemptLogin, code).then(tried(0));
  });

  it('holds however many confirmations stand between: each repeats what counts', () => {
    given(confirmed(20, [iso(100), iso(90), iso(80), iso(70)]), tried(10)).when(attemptLogin, code).thenRefused('forbidden');
  });

  it('ends a lock that only its own try had filled', () => {
    given(...four, tried(60)).when(confirmPassword, confirm).then(confirmed(0, [100, 90, 80, 70].map(iso)));
    given(...four, tried(60), confirmed(59, [100, 90, 80, 70].map(iso))).when(attemptLogin, code).then(tried(0));
  });

  it('gives nothing back where a success has wiped its try out', () => {
    given(tried(60), succeeded(50), tried(40)).when(confirmPassword, confirm).then(confirmed(0, [iso(40)]));
  });
});
