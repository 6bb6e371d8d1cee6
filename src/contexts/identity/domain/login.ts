import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { EventOf } from '../../../platform/kernel/event.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { loginEvents, type RecordedCounter } from './login-events.ts';
import {
  attemptLimitOf,
  LOCK_MS,
  UNFAMILIAR_ADDRESSES,
  UNFAMILIAR_CODES,
  WINDOW_MS,
  type AttemptSource,
} from './login-limits.ts';

/** Attempts that are counted together. Times are epoch milliseconds. */
export interface AttemptCounter {
  readonly tries: readonly number[];
  readonly lockedUntil: number;
  readonly checksWhileLocked: number;
}

export interface LoginState {
  /** By name (`login-limits.ts`); empty counters are left out. */
  readonly counters: Readonly<Record<string, AttemptCounter>>;
  /** Addresses from which the account was signed in to, latest first. */
  readonly knownAddresses: readonly string[];
}

/** A counted attempt, as its outcome refers to it. */
export interface CountedAttempt {
  readonly at: number;
  readonly countedBy: readonly string[];
}

export const NO_ATTEMPTS: LoginState = { counters: {}, knownAddresses: [] };
const EMPTY: AttemptCounter = { tries: [], lockedUntil: 0, checksWhileLocked: 0 };
const MAX_KNOWN_ADDRESSES = 8;

export function foldLogin(state: LoginState, event: EventOf<typeof loginEvents>): LoginState {
  switch (event.type) {
    case 'LoginAttempted': {
      const at = Date.parse(event.data.at);
      const counters = { ...state.counters };
      for (const name of event.data.countedBy) counters[name] = counted(name, counters[name], at);
      return { ...state, counters: stillCounting(counters, at) };
    }
    case 'PasswordConfirmed':
      return { ...state, counters: countersOf(event.data.standing) };
    case 'LoginSucceeded':
      return {
        counters: countersOf(event.data.standing),
        knownAddresses: withKnown(state.knownAddresses, event.data.source),
      };
    case 'LoginUnlocked':
      return { ...state, counters: {} };
  }
}

export const login = defineAggregate<LoginState, typeof loginEvents>(loginEvents, NO_ATTEMPTS, foldLogin);

function counted(
  name: string,
  { tries, lockedUntil, checksWhileLocked }: AttemptCounter = EMPTY,
  at: number,
): AttemptCounter {
  if (lockedUntil > at) return { tries, lockedUntil, checksWhileLocked: checksWhileLocked + 1 };
  const counting = [...tries.filter((then) => then > at - WINDOW_MS && then >= lockedUntil), at];
  return {
    tries: counting,
    lockedUntil: counting.length >= attemptLimitOf(name).tries ? at + LOCK_MS : lockedUntil,
    checksWhileLocked: 0,
  };
}

const stillCounting = (
  counters: Readonly<Record<string, AttemptCounter>>,
  at: number,
): Record<string, AttemptCounter> =>
  Object.fromEntries(
    Object.entries(counters).filter(
      ([, { tries, lockedUntil }]) => lockedUntil > at || tries.some((then) => then > at - WINDOW_MS),
    ),
  );

const withKnown = (known: readonly string[], source: string): readonly string[] =>
  source.startsWith('address:')
    ? [source, ...known.filter((address) => address !== source)].slice(0, MAX_KNOWN_ADDRESSES)
    : known;

/**
 * The counters that an attempt increases.
 *
 * Sources that signed in before are counted alone, so that attempts from elsewhere cannot lock them out. Unfamiliar
 * addresses also share a limit. Otherwise, each further address would give an attacker further attempts.
 */
export function countersFor(
  { knownAddresses }: LoginState,
  source: AttemptSource,
  factor: 'password' | 'code',
): string[] {
  const isStranger = source.startsWith('address:') && !knownAddresses.includes(source);
  if (!isStranger) return [source];
  return factor === 'code' ? [source, UNFAMILIAR_ADDRESSES, UNFAMILIAR_CODES] : [source, UNFAMILIAR_ADDRESSES];
}

/** Whether a password may be checked now, and whether it could sign in. */
export function judgeAttempt(
  { counters }: LoginState,
  names: readonly string[],
  now: number,
): 'open' | 'locked' | 'exhausted' {
  // The attempt that reached the limit may still be in progress and succeed; later ones cannot.
  const locked = names.flatMap((name) => {
    const { lockedUntil, checksWhileLocked } = counters[name] ?? EMPTY;
    return lockedUntil > now ? [{ isExhausted: checksWhileLocked >= attemptLimitOf(name).checksWhileLocked }] : [];
  });
  if (locked.some(({ isExhausted }) => isExhausted)) return 'exhausted';
  return locked.length > 0 ? 'locked' : 'open';
}

/**
 * The counters after this attempt is refunded. Counters that were cleared since, or that were locked at the time, stay
 * unchanged.
 */
export function withoutAttempt(
  { counters }: LoginState,
  { at, countedBy }: CountedAttempt,
): Record<string, AttemptCounter> {
  const left = { ...counters };
  for (const name of countedBy) {
    const { tries, ...lock } = left[name] ?? EMPTY;
    const own = tries.lastIndexOf(at);
    if (own < 0) continue;
    const others = tries.toSpliced(own, 1);
    if (others.length === 0) delete left[name];
    else
      left[name] =
        others.length < attemptLimitOf(name).tries ? { ...EMPTY, tries: others } : { ...lock, tries: others };
  }
  return left;
}

/**
 * The counters after a successful sign-in. All attempts of its source are forgiven; of the shared counters only this
 * attempt.
 */
export function withoutSource(state: LoginState, attempt: CountedAttempt): Record<string, AttemptCounter> {
  const [source, ...shared] = attempt.countedBy;
  const { [source!]: _forgiven, ...others } = withoutAttempt(state, { at: attempt.at, countedBy: shared });
  return others;
}

/** The counters as an event records them, without expired ones. */
export const toRecordedCounters = (
  counters: Readonly<Record<string, AttemptCounter>>,
  now: number,
): RecordedCounter[] =>
  Object.entries(stillCounting(counters, now)).map(([name, { tries, lockedUntil, checksWhileLocked }]) => ({
    name,
    tries: tries.map((then) => new Date(then).toISOString()),
    lockedUntil: lockedUntil === 0 ? null : new Date(lockedUntil).toISOString(),
    checksWhileLocked,
  }));

const countersOf = (kept: readonly RecordedCounter[]): Record<string, AttemptCounter> =>
  Object.fromEntries(
    kept.map(({ name, tries, lockedUntil, checksWhileLocked }) => [
      name,
      {
        tries: tries.map((then) => Date.parse(then)),
        lockedUntil: lockedUntil === null ? 0 : Date.parse(lockedUntil),
        checksWhileLocked,
      },
    ]),
  );

/**
 * Until when some source is locked out of signing in (epoch milliseconds); 0 if none is. Re-authentication in a live
 * session does not count as a sign-in.
 */
export const lockedOutUntil = ({ counters }: LoginState): number =>
  Math.max(
    0,
    ...Object.entries(counters).flatMap(([name, { lockedUntil }]) =>
      name.startsWith('session:') ? [] : [lockedUntil],
    ),
  );

/**
 * Enough of the newest events to contain every attempt that still counts.
 *
 * A confirmation or a success repeats the counters before it. After it, unfamiliar addresses have 50 attempts within
 * any half hour, and each source that has signed in before has ten.
 */
export const LOGIN_TAIL = 128;

export const loginStream = (tenantId: TenantId, accountDigest: string): string =>
  streamName('login', tenantId, accountDigest);
