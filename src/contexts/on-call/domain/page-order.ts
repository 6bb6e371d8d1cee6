import type { Recipient } from '../../notifications/domain/message.ts';
import { MAX_PARTICIPANTS } from './schedule-content.ts';

/** Everybody who takes turns, and the person of an override. */
export const MAX_ORDER = MAX_PARTICIPANTS + 1;
/** Calls of one page, whatever the rounds. */
export const MAX_PAGE_STEPS = 50;

/** `inactive`: suspended or deleted. `no_way`: no device that pushes reach, and no e-mail. */
export const unreachableReasons = ['inactive', 'no_way'] as const;
export type UnreachableReason = (typeof unreachableReasons)[number];

/** A person whose turn it may be. */
export type Callee =
  | { readonly adminId: string; readonly recipients: readonly Recipient[] }
  | { readonly adminId: string; readonly unreachable: UnreachableReason };

export interface PassedOver {
  readonly adminId: string;
  readonly reason: UnreachableReason;
}

/** How far a page has come. */
export interface PageProgress {
  /** Calls so far. */
  readonly step: number;
  readonly round: number;
  readonly rounds: number;
  /** Who was called or passed over in this round. */
  readonly done: readonly string[];
}

export type NextCall =
  | {
      readonly kind: 'call';
      readonly adminId: string;
      readonly recipients: readonly Recipient[];
      readonly round: number;
      readonly passedOver: readonly PassedOver[];
    }
  | { readonly kind: 'exhausted'; readonly passedOver: readonly PassedOver[] };

/**
 * Who is called next. `order` is that of the present moment: the person who has the shift, then those whose turns
 * follow. Nobody is called twice in a round. A person who cannot be reached is passed over.
 */
export function nextCall({ step, round, rounds, done }: PageProgress, order: readonly Callee[]): NextCall {
  const left = order.filter(({ adminId }) => !done.includes(adminId));
  if (step >= MAX_PAGE_STEPS) return { kind: 'exhausted', passedOver: [] };
  const next = firstReachable(left);
  if (next) return { kind: 'call', round, ...next };
  const again = round < rounds ? firstReachable(order) : undefined;
  return again ? { kind: 'call', round: round + 1, ...again } : { kind: 'exhausted', passedOver: unreachableOf(left) };
}

function firstReachable(people: readonly Callee[]) {
  for (const [index, person] of people.entries())
    if ('recipients' in person) return { ...person, passedOver: unreachableOf(people.slice(0, index)) };
  return undefined;
}

const unreachableOf = (people: readonly Callee[]): PassedOver[] =>
  people.flatMap((person) =>
    'unreachable' in person ? [{ adminId: person.adminId, reason: person.unreachable }] : [],
  );
