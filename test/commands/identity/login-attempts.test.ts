import { describe, expect, it } from 'vitest';
import { attemptLogin } from '../../../commands/identity/attempt-login.ts';
import { confirmPassword } from '../../../commands/identity/confirm-password.ts';
import { recordLoginSuccess } from '../../../commands/identity/record-login-success.ts';
import { unlockLogin } from '../../../commands/identity/unlock-login.ts';
import { loginEvents, type RecordedCounter } from '../../../src/contexts/identity/domain/login-events.ts';
import type { AttemptSource } from '../../../src/contexts/identity/domain/login-limits.ts';
import { login, LOGIN_TAIL } from '../../../src/contexts/identity/domain/login.ts';
import type { EventOf } from '../../../src/platform/kernel/event.ts';
import { given, NOW } from '../../dsl/given.ts';

type LoginEvent = EventOf<typeof loginEvents>;
const SUBJECT = '44444444-4444-4444-8444-444444444444';
const HERE: AttemptSource = 'address:here';
const THERE: AttemptSource = 'address:there';
const BROWSER: AttemptSource = 'browser:known';
const SESSION: AttemptSource = 'session:88888888-8888-4888-8888-888888888888';
const iso = (secondsAgo: number) => new Date(NOW - secondsAgo * 1000).toISOString();
const byStrangers = (source: AttemptSource = HERE) => [source, 'strangers'];
const byCodes = (source: AttemptSource = HERE) => [source, 'strangers', 'codes'];
const tried = (secondsAgo: number, countedBy: readonly string[] = byStrangers(), locked = false) => ({
  type: 'LoginAttempted' as const,
  data: { at: iso(secondsAgo), subjectId: SUBJECT, locked, countedBy: [...countedBy] },
});
const counter = (
  name: string,
  secondsAgo: readonly number[],
  over: Partial<RecordedCounter> = {},
): RecordedCounter => ({ name, tries: secondsAgo.map(iso), lockedUntil: null, checksWhileLocked: 0, ...over });
const succeeded = (secondsAgo: number, source: AttemptSource = HERE, standing: RecordedCounter[] = []) => ({
  type: 'LoginSucceeded' as const,
  data: { at: iso(secondsAgo), subjectId: SUBJECT, source, standing },
});
const confirmed = (secondsAgo: number, standing: RecordedCounter[] = []): LoginEvent => ({
  type: 'PasswordConfirmed',
  data: { at: iso(secondsAgo), subjectId: SUBJECT, purpose: 'second_factor_follows', standing },
});
const triedAt = (secondsAgo: number, countedBy: readonly string[] = byStrangers()) => ({
  at: NOW - secondsAgo * 1000,
  countedBy,
});
const times = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n));
const four = [tried(100), tried(90), tried(80), tried(70)];

const from = (source: AttemptSource, factor: 'password' | 'code' = 'password') => ({
  accountDigest: 'digest',
  subjectId: SUBJECT,
  factor,
  source,
});
const password = from(HERE);
const code = from(HERE, 'code');
const unlock = { accountDigest: 'digest', subjectId: SUBJECT };

describe('an attempt', () => {
  it('is granted five times', () => {
    given(...four)
      .when(attemptLogin, password)
      .then(tried(0));
    expect(
      given(...four)
        .when(attemptLogin, code)
        .result(),
    ).toEqual({ locked: false, attempt: triedAt(0, byCodes()) });
  });

  it('is granted for passwords while locked, five times, and never for codes', () => {
    const locked = [...four, tried(60)];
    given(...locked)
      .when(attemptLogin, password)
      .then(tried(0, byStrangers(), true));
    given(...locked)
      .when(attemptLogin, code)
      .thenRefused('forbidden', 'account locked');
    const exhausted = [...locked, ...[50, 40, 30, 20, 10].map((ago) => tried(ago, byStrangers(), true))];
    given(...exhausted)
      .when(attemptLogin, password)
      .thenRefused('unauthenticated', 'invalid credentials');
    given(...exhausted)
      .when(attemptLogin, code)
      .thenRefused('forbidden', 'account locked');
  });

  it('is granted again after 15 minutes, with five new attempts', () => {
    const past = [tried(1_100), tried(1_090), tried(1_080), tried(1_070), tried(1_060)];
    given(...past)
      .when(attemptLogin, password)
      .then(tried(0));
    given(...past, tried(4), tried(3), tried(2), tried(1))
      .when(attemptLogin, code)
      .then(tried(0, byCodes()));
    given(...past, tried(5), tried(4), tried(3), tried(2), tried(1))
      .when(attemptLogin, code)
      .thenRefused('forbidden');
  });

  it('that is older than 15 minutes does not count', () => {
    given(tried(1_000), tried(80), tried(70), tried(60), tried(50)).when(attemptLogin, password).then(tried(0));
  });

  it('no longer counts after an unlock, whatever its source', () => {
    const everywhere = [
      ...four,
      tried(60),
      ...times(5, () => tried(50, byStrangers(THERE))),
      ...times(5, () => tried(40, [BROWSER])),
      ...times(5, () => tried(30, [SESSION])),
    ];
    const unlocked = { type: 'LoginUnlocked', data: { at: iso(20), subjectId: SUBJECT } } as const;
    for (const source of [HERE, THERE, BROWSER, SESSION])
      expect(
        given(...everywhere, unlocked)
          .when(attemptLogin, from(source))
          .result().locked,
      ).toBe(false);
    given(...everywhere)
      .when(unlockLogin, unlock)
      .thenTypes('LoginUnlocked');
    given().when(unlockLogin, unlock).thenNothing();
  });
});

describe('attempts from one source', () => {
  it.each([
    ['another address', THERE, byStrangers(THERE)],
    ['a browser that signed in before', BROWSER, [BROWSER]],
    ['a live session that re-authenticates', SESSION, [SESSION]],
  ] as const)('do not lock out %s', (_who, source, countedBy) => {
    const exhausted = [...four, tried(60), ...times(5, (n) => tried(50 - n, byStrangers(), true))];
    given(...exhausted)
      .when(attemptLogin, from(source))
      .then(tried(0, countedBy));
  });

  it.each([BROWSER, SESSION])('lock %s itself out after five', (source) => {
    const own = [50, 40, 30, 20, 10].map((ago) => tried(ago, [source]));
    expect(
      given(...own)
        .when(attemptLogin, from(source))
        .result().locked,
    ).toBe(true);
    expect(
      given(...own)
        .when(attemptLogin, password)
        .result().locked,
    ).toBe(false);
  });

  it('are cleared by a success from that source, and no others are', () => {
    const history = [tried(100, byStrangers(THERE)), tried(90, byStrangers(THERE)), tried(80), tried(70), tried(60)];
    given(...history)
      .when(recordLoginSuccess, { ...unlock, attempt: triedAt(60) })
      .then(succeeded(0, HERE, [counter(THERE, [100, 90]), counter('strangers', [100, 90, 80, 70])]));
  });

  it('are no longer recorded once they are too old', () => {
    given(tried(2_000, byStrangers(THERE)), tried(0, [BROWSER]))
      .when(recordLoginSuccess, { ...unlock, attempt: triedAt(0, [BROWSER]) })
      .then(succeeded(0, BROWSER, []));
  });
});

describe('attempts from many unknown addresses', () => {
  const stranger = (n: number): AttemptSource => `address:stranger-${n}`;
  const fifty = times(50, (n) => tried(600 - n * 5, byStrangers(stranger(n))));

  it('are limited to fifty together, those while locked included', () => {
    given(...fifty.slice(1))
      .when(attemptLogin, from(stranger(60)))
      .then(tried(0, byStrangers(stranger(60))));
    given(...fifty)
      .when(attemptLogin, from(stranger(60)))
      .thenRefused('unauthenticated', 'invalid credentials');
    const looks = times(5, (n) => [
      ...times(5, () => tried(600 - n, byStrangers(stranger(n)))),
      ...times(5, () => tried(500 - n, byStrangers(stranger(n)), true)),
    ]).flat();
    given(...looks)
      .when(attemptLogin, from(stranger(60)))
      .thenRefused('unauthenticated', 'invalid credentials');
  });

  it.each([BROWSER, SESSION])('do not lock out %s', (source) => {
    given(...fifty)
      .when(attemptLogin, from(source))
      .then(tried(0, [source]));
  });

  it('do not lock out an address from which the account has signed in', () => {
    given(succeeded(900, HERE), ...fifty)
      .when(attemptLogin, password)
      .then(tried(0, [HERE]));
    // Only the latest eight are kept: an attacker cannot add any.
    given(succeeded(900, HERE), ...times(8, (n) => succeeded(800 - n, stranger(n))), ...fifty)
      .when(attemptLogin, password)
      .thenRefused('unauthenticated');
  });

  it('are granted fifty again after 15 minutes', () => {
    const before = times(50, (n) => tried(1_900 - n * 5, byStrangers(stranger(n))));
    expect(
      given(...before)
        .when(attemptLogin, password)
        .result().locked,
    ).toBe(false);
  });

  it('with the right password are limited to five codes together', () => {
    const codes = times(5, (n) => tried(50 - n, byCodes(stranger(n))));
    given(...codes)
      .when(attemptLogin, from(stranger(9), 'code'))
      .thenRefused('forbidden', 'account locked');
    given(...codes)
      .when(attemptLogin, from(stranger(9)))
      .then(tried(0, byStrangers(stranger(9))));
    given(...codes)
      .when(attemptLogin, from(BROWSER, 'code'))
      .then(tried(0, [BROWSER]));
  });

  it('do not push each other out of the part of a long stream that is read', () => {
    const long = [...times(500, () => succeeded(1_000, BROWSER)), ...fifty];
    given(...long.slice(-LOGIN_TAIL))
      .when(attemptLogin, from(stranger(60)))
      .thenRefused('unauthenticated');
  });
});

describe('a right password that needs a code as well', () => {
  const confirm = (secondsAgo: number) =>
    ({ ...unlock, attempt: triedAt(secondsAgo), purpose: 'second_factor_follows' }) as const;
  const both = (secondsAgo: readonly number[]) => [counter(HERE, secondsAgo), counter('strangers', secondsAgo)];

  it('returns its own attempt and clears no other', () => {
    given(tried(100), tried(90), tried(60))
      .when(confirmPassword, confirm(60))
      .then(confirmed(0, both([100, 90])));
  });

  it('gives no additional attempts for codes', () => {
    const wrongCodes = [
      tried(100, byCodes()),
      tried(60),
      confirmed(59, [...both([100]), counter('codes', [100])]),
      ...[50, 40, 30, 20].map((ago) => tried(ago, byCodes())),
    ];
    given(...wrongCodes)
      .when(attemptLogin, code)
      .thenRefused('forbidden', 'account locked');
    given(...wrongCodes.slice(0, -1))
      .when(attemptLogin, code)
      .then(tried(0, byCodes()));
  });

  it('survives any number of confirmations in between: each repeats the attempts that count', () => {
    given(confirmed(20, both([100, 90, 80, 70])), tried(10))
      .when(attemptLogin, code)
      .thenRefused('forbidden', 'account locked');
    const locked = [counter(HERE, [100, 90, 80, 70, 60], { lockedUntil: iso(-840), checksWhileLocked: 5 })];
    given(confirmed(20, locked)).when(attemptLogin, password).thenRefused('unauthenticated', 'invalid credentials');
  });

  it('ends a lock that only its own attempt had caused', () => {
    given(...four, tried(60))
      .when(confirmPassword, confirm(60))
      .then(confirmed(0, both([100, 90, 80, 70])));
    given(...four, tried(60), confirmed(59, both([100, 90, 80, 70])))
      .when(attemptLogin, code)
      .then(tried(0, byCodes()));
  });

  it('returns nothing if a success has cleared its attempt', () => {
    given(tried(60), succeeded(50), tried(40, [HERE]))
      .when(confirmPassword, confirm(60))
      .then(confirmed(0, [counter(HERE, [40])]));
  });
});

describe('attempts from before sources were recorded', () => {
  const read = (type: string, data: object, version = 1) => {
    const { upcasters, version: present } = (
      loginEvents.definitions as unknown as Record<
        string,
        { version: number; upcasters: Record<number, (data: object) => object> }
      >
    )[type]!;
    let upcast = data;
    for (let at = version; at < present; at += 1) upcast = upcasters[at]!(upcast);
    return { type, data: upcast } as LoginEvent;
  };
  const early = (secondsAgo: number) =>
    read('LoginAttempted', { at: iso(secondsAgo), subjectId: SUBJECT, locked: false });

  it('lock nobody out now, and are cleared by an unlock', () => {
    const history = [50, 40, 30, 20, 10].map(early);
    given(...history)
      .when(attemptLogin, password)
      .then(tried(0));
    given(...history)
      .when(unlockLogin, unlock)
      .thenTypes('LoginUnlocked');
  });

  it('are read from a confirmation with their lock', () => {
    const state = login.fold(
      login.initial,
      read(
        'PasswordConfirmed',
        { at: iso(1), subjectId: SUBJECT, purpose: 'second_factor_follows', tries: [50, 40, 30, 20, 10].map(iso) },
        2,
      ),
    );
    expect(Object.values(state.counters)).toEqual([
      {
        tries: [50, 40, 30, 20, 10].map((ago) => NOW - ago * 1000),
        lockedUntil: NOW - 10_000 + 900_000,
        checksWhileLocked: 0,
      },
    ]);
  });
});
