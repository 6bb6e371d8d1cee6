import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { verificationEvents } from './events.ts';

/** Choice OP-236: five failures of one employee in 15 minutes, whatever the method, and nothing is looked at until the oldest is over. */
export const MAX_FAILURES = 5;
const WINDOW_MS = 15 * 60_000;
/** Refusals are told to the audit log only so often between two failures, or refusing would cost more than looking. */
const REFUSALS_TOLD = 5;

export interface VerificationState {
  /** Epoch milliseconds of the latest failures, oldest first. */
  readonly failures: readonly number[];
  readonly refusals: number;
  /** The newest time step whose one-time code was accepted. */
  readonly newestStep: number;
  /** Alert id to whether it was read. */
  readonly alerts: ReadonlyMap<string, boolean>;
}

const initial: VerificationState = { failures: [], refusals: 0, newestStep: -1, alerts: new Map() };

export const verification = defineAggregate<VerificationState, typeof verificationEvents>(
  verificationEvents,
  initial,
  (state, event) => {
    switch (event.type) {
      case 'VerificationSucceeded':
        return { ...state, newestStep: Math.max(state.newestStep, event.data.step ?? -1) };
      case 'VerificationFailed':
        return {
          ...state,
          failures: [...state.failures, Date.parse(event.data.at)].slice(-MAX_FAILURES),
          refusals: 0,
        };
      case 'VerificationRefused':
        return { ...state, refusals: state.refusals + 1 };
      case 'VerificationAlertRaised':
        return { ...state, alerts: new Map(state.alerts).set(event.data.alertId, false) };
      case 'VerificationAlertRead':
        return { ...state, alerts: new Map(state.alerts).set(event.data.alertId, true) };
    }
  },
);

export const verificationStream = (tenantId: TenantId, userId: string): string =>
  streamName('verification', tenantId, userId);

const counting = ({ failures }: VerificationState, now: number): number[] =>
  failures.filter((then) => then > now - WINDOW_MS);

/** Seconds until another code is looked at; 0 where one may be looked at now. */
export function secondsUntilOpen(state: VerificationState, now: number): number {
  const failures = counting(state, now);
  return failures.length < MAX_FAILURES ? 0 : Math.max(1, Math.ceil((failures[0]! + WINDOW_MS - now) / 1000));
}

/** Is a failure of this moment the one that fills the count? */
export const reachesLimit = (state: VerificationState, now: number): boolean =>
  counting(state, now).length + 1 >= MAX_FAILURES;

export const isRefusalRecorded = ({ refusals }: VerificationState): boolean => refusals < REFUSALS_TOLD;
