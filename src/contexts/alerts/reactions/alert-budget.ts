import { v5 } from 'uuid';
import { raiseAlert } from '../../../../commands/alerts/raise-alert.ts';
import { recordAlertOccurrence } from '../../../../commands/alerts/record-alert-occurrence.ts';
import type { Envelope } from '../../../platform/kernel/event.ts';
import { effect, type Effect } from '../../../platform/kernel/reaction.ts';
import { at } from '../../../platform/kernel/read-model.ts';
import { ordinaryDays, refilled, spent, type Bucket } from '../../../platform/kernel/token-bucket.ts';
import type { Finding, Occurrence } from './finding.ts';
import { isMissing, type UnseenSince } from './unseen-alert.ts';

/** The alert that counts a device's findings beyond its budget. */
interface Summary {
  readonly alertId: string;
  /** Epoch milliseconds, time of arrival. */
  readonly last: number;
  readonly isOpen: boolean;
  readonly unseenSince: UnseenSince;
}

/** The remaining budget of one device for one type of alert, as the reaction stores it. */
export interface SpentBudget {
  readonly raises: Bucket;
  readonly repeats: Bucket;
  /** Latest first. */
  readonly summaries: readonly Summary[];
}

/** New alerts of one type per device on an ordinary day: one for each person and domain, or extension. */
const RAISES = ordinaryDays(10);
/** Repetitions of alerts of one type per device on an ordinary day. */
const REPEATS = ordinaryDays(100);
const DAY_MS = 24 * 3_600_000;
const MAX_SUMMARIES = 8;
const MAX_NAMED = 20;
/** UUIDv5 namespace (RFC 9562 §5.5). */
const SUMMARIES = '6f2c1d7e-9c0b-4f55-8d43-0f6f1c1f7a09';

export const budgetName = (alertType: string, deviceId: string): string => `budget|${alertType}|${deviceId}`;

/**
 * The budget of one device and type of alert, while one event is processed. It goes by arrival time, so the dates that
 * a device reports make no difference. One alert counts everything beyond the budget as its occurrences.
 */
export class AlertBudget {
  readonly name: string;
  readonly #event: Envelope;
  #known: SpentBudget | undefined;
  #now: SpentBudget;
  #beyond: { finding: Finding; occurrences: readonly Occurrence[] }[] = [];

  constructor(name: string, event: Envelope) {
    this.name = name;
    this.#event = event;
    this.#now = refilledBudget(undefined, event.recordedAt);
  }

  begin(known: SpentBudget | undefined): void {
    this.#known = known;
    this.#now = refilledBudget(known, this.#event.recordedAt);
    this.#beyond = [];
  }

  mayRaise(): boolean {
    return this.#take('raises');
  }

  mayRepeat(): boolean {
    return this.#take('repeats');
  }

  /** Counts findings in the summary alert instead of raising or repeating alerts for them. */
  count(finding: Finding, occurrences: readonly Occurrence[]): void {
    this.#beyond.push({ finding, occurrences });
  }

  end(): { readonly spent: SpentBudget | undefined; readonly effects: readonly Effect[] } {
    const isTouched =
      this.#beyond.length > 0 ||
      this.#now.raises.left !== this.#full.raises.left ||
      this.#now.repeats.left !== this.#full.repeats.left;
    if (!isTouched) return { spent: this.#known, effects: [] };
    const effects = this.#beyond.length > 0 ? this.#summarize() : [];
    return { spent: this.#now, effects };
  }

  get #full(): SpentBudget {
    return refilledBudget(this.#known, this.#event.recordedAt);
  }

  #take(which: 'raises' | 'repeats'): boolean {
    const after = spent(this.#now[which]);
    if (after) this.#now = { ...this.#now, [which]: after };
    return after !== undefined;
  }

  #summarize(): Effect[] {
    const { recordedAt, id, tenantId } = this.#event;
    const occurrences = this.#beyond.flatMap((one) => one.occurrences);
    const latest = occurrences
      .map(({ occurredAt }) => occurredAt)
      .toSorted()
      .at(-1)!;
    const repeat = (alertId: string, many: number): Effect =>
      effect(recordAlertOccurrence, { alertId, cause: id, occurrences: many, occurredAt: latest });
    const open = this.#now.summaries.find(({ isOpen, last }) => isOpen && recordedAt - last <= DAY_MS);
    const alertId = open?.alertId ?? v5(`${tenantId}|${this.name}|${id}`, SUMMARIES);
    const isToRaise = !open || isMissing(open.unseenSince, this.#event);
    const unseenSince = isToRaise ? recordedAt : open.unseenSince;
    const others = this.#now.summaries.filter((one) => one !== open);
    this.#now = {
      ...this.#now,
      summaries: [{ alertId, last: recordedAt, isOpen: true, unseenSince }, ...others].slice(0, MAX_SUMMARIES),
    };
    const again = open ? occurrences.length : occurrences.length - 1;
    return [...(isToRaise ? [this.#raise(alertId, occurrences)] : []), ...(again > 0 ? [repeat(alertId, again)] : [])];
  }

  #raise(alertId: string, occurrences: readonly Occurrence[]): Effect {
    const { alertType, severity, userId, deviceId } = this.#beyond[0]!.finding;
    const observationIds = occurrences.slice(0, MAX_NAMED).map(({ observationId }) => observationId);
    const domains = [...new Set(this.#beyond.flatMap((one) => one.finding.domain ?? []))].slice(0, MAX_NAMED);
    return effect(raiseAlert, {
      alertId,
      fingerprint: this.name,
      alertType,
      severity,
      title: 'One browser raised too many alerts of this type to list each one',
      description: `The browser used up its budget of ${RAISES.capacity} alerts of this type (refilled by ${RAISES.perDay} a day). Each further detection is counted here as an occurrence.`,
      userId,
      deviceId,
      domain: null,
      url: null,
      cause: observationIds[0]!,
      metadata: {
        kind: 'alert_budget',
        observedAt: at(this.#event),
        observationIds,
        domains,
        batchId: this.#event.id,
        budget: RAISES.capacity,
        budgetPerDay: RAISES.perDay,
      },
    });
  }
}

const refilledBudget = (known: SpentBudget | undefined, now: number): SpentBudget => ({
  raises: refilled(known?.raises, RAISES, now),
  repeats: refilled(known?.repeats, REPEATS, now),
  summaries: known?.summaries ?? [],
});

/** Records that a summary alert was raised. */
export const withSummarySeen = (budget: SpentBudget, alertId: string): SpentBudget => ({
  ...budget,
  summaries: budget.summaries.map((one) => (one.alertId === alertId ? { ...one, unseenSince: null } : one)),
});

/** Records that a summary alert was closed or reopened. */
export const withSummaryDecided = (budget: SpentBudget, alertId: string, isOpen: boolean): SpentBudget => ({
  ...budget,
  summaries: budget.summaries.map((one) => (one.alertId === alertId ? { ...one, isOpen } : one)),
});
