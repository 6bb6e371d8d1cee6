import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { verificationEvents } from './events.ts';

/**
 * Choice OP-236: after five failures for one employee in 15 minutes, by any method, no code is checked until the oldest
 * failure is 15 minutes old.
 */
export const MAX_FAILURES = 5;
const WINDOW_MS = 15 * 60_000;
/** Maximum number of audited refusals between two failures, so that a refusal does not cost more than a check. */
const REFUSALS_TOLD = 5;

export interface VerificationState {
  /** Epoch milliseconds of the latest failures, oldest first. */
  readonly failures: readonly number[];
  readonly refusals: number;
  /** The newest time step whose one-time code was accepted. */
  readonly newestStep: number;
  /** Whether each alert was read, by alert id. */
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

/** Seconds until the next code is checked; 0 if one may be checked now. */
export function secondsUntilOpen(state: VerificationState, now: number): number {
  const failures = counting(state, now);
  return failures.length < MAX_FAILURES ? 0 : Math.max(1, Math.ceil((failures[0]! + WINDOW_MS - now) / 1000));
}

/** Whether a failure at this moment reaches the limit. */
export const reachesLimit = (state: VerificationState, now: number): boolean =>
  counting(state, now).length + 1 >= MAX_FAILURES;

export const isRefusalRecorded = ({ refusals }: VerificationState): boolean => refusals < REFUSALS_TOLD;
