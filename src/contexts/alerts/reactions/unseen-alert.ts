import type { Envelope } from '../../../platform/kernel/event.ts';

/**
 * When the raising of an alert was requested (epoch milliseconds); null once its event was seen in the log. A new
 * version of the reaction folds history without effects. Alerts that the version before did not raise stay unseen.
 */
export type UnseenSince = number | null;

/** Raising takes seconds. An alert that stays unseen for longer does not exist: the next finding raises it. */
const RAISED_WITHIN_MS = 10 * 60_000;

/** Raising an alert that exists after all has no effect. */
export const isMissing = (unseenSince: UnseenSince, { recordedAt }: Pick<Envelope, 'recordedAt'>): boolean =>
  unseenSince !== null && recordedAt - unseenSince > RAISED_WITHIN_MS;
