import { defineAggregate, streamName } from '../../kernel/aggregate.ts';
import type { EventOf } from '../../kernel/event.ts';
import type { TenantId } from '../../kernel/ids.ts';
import { loginEvents } from './events.ts';

/** Choice OP-021: five tries without success in 15 minutes lock the account for 15 minutes. */
const TRIES = 5;
const WINDOW_MS = 15 * 60_000;
const LOCK_MS = 15 * 60_000;
/** While locked so many passwords are still looked at (only to say "locked" to the one who knows it); none lets in. */
const CHECKS_WHILE_LOCKED = 5;

export interface LoginState {
  /** Epoch milliseconds of tries since the last success. */
  readonly tries: readonly number[];
  readonly lockedUntil: number;
  readonly checksWhileLocked: number;
}

export const NO_TRIES: LoginState = { tries: [], lockedUntil: 0, checksWhileLocked: 0 };

export function foldLogin(state: LoginState, event: EventOf<typeof loginEvents>): LoginState {
  const at = Date.parse(event.data.at);
  switch (event.type) {
    case 'LoginAttempted': {
      if (event.data.locked) return { ...state, checksWhileLocked: state.checksWhileLocked + 1 };
      const tries = [...state.tries.filter((then) => then > at - WINDOW_MS && then >= state.lockedUntil), at];
      const lockedUntil = tries.length >= TRIES ? at + LOCK_MS : state.lockedUntil;
      return { tries, lockedUntil, checksWhileLocked: 0 };
    }
    case 'PasswordConfirmed': {
      const tries = event.data.tries.map((then) => Date.parse(then));
      return tries.length >= TRIES ? { ...state, tries } : { tries, lockedUntil: 0, checksWhileLocked: 0 };
    }
    case 'LoginSucceeded':
    case 'LoginUnlocked':
      return NO_TRIES;
  }
}

export const login = defineAggregate<LoginState, typeof loginEvents>(loginEvents, NO_TRIES, foldLogin);

/** May a password be looked at now, and could it let anybody in? */
export function judgeTry(state: LoginState, now: number): 'open' | 'locked' | 'exhausted' {
  if (state.lockedUntil <= now) return 'open';
  // The try that filled the count may still be under way and succeed; those after it cannot.
  return state.checksWhileLocked < CHECKS_WHILE_LOCKED ? 'locked' : 'exhausted';
}

/** The tries that count once the one of this moment is given back; all of them where a success has wiped it out since. */
export function triesWithout({ tries }: LoginState, at: number): number[] {
  const own = tries.lastIndexOf(at);
  return own < 0 ? [...tries] : tries.toSpliced(own, 1);
}

/**
 * Enough of the newest events to hold every try that still counts: a confirmation repeats those before it, and after it
 * (or a success) no more are granted than one lock allows before 15 minutes have passed.
 */
export const LOGIN_TAIL = 32;

export const loginStream = (tenantId: TenantId, accountDigest: string): string => streamName('login', tenantId, accountDigest);
