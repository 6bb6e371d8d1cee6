import { planOf, type ScheduleContent } from './schedule-content.ts';
import { lastBegun, type ScheduleHistory } from './schedule-history.ts';
import type { ShiftCalendars } from './shift-calendars.ts';

/** Why a schedule has nobody on call. */
export const gapReasons = ['not_created', 'deleted', 'disabled', 'not_started'] as const;
export type GapReason = (typeof gapReasons)[number];

/** A time without change: one person has the shift, or none. Epoch milliseconds; `endsAt` may be infinite. */
export type Span = ShiftSpan | GapSpan;
export interface ShiftSpan {
  readonly kind: 'shift';
  readonly adminUserId: string;
  readonly isOverride: boolean;
  readonly startsAt: number;
  readonly endsAt: number;
  /** The rotation's shift or the override before anything cut it. The start tells equal neighbours apart. */
  readonly plannedFrom: number;
  readonly plannedTo: number;
}
export interface GapSpan {
  readonly kind: 'gap';
  readonly reason: GapReason;
  readonly startsAt: number;
  readonly endsAt: number;
}

/**
 * Who has the shift of one schedule, at any moment, past or future. Pure: a function of the schedule's history and of
 * the zone's clocks.
 *
 * A version of the schedule holds until the next one, the last one forever. In a version, an override goes before the
 * rotation.
 */
export class ScheduleResolver {
  readonly #history: ScheduleHistory;
  readonly #calendars: ShiftCalendars;

  constructor(history: ScheduleHistory, calendars: ShiftCalendars) {
    this.#history = history;
    this.#calendars = calendars;
  }

  /** The span that a moment lies in, with its full extent: a change that left the shift as it was does not cut it. */
  at(moment: number): Span {
    const piece = this.#pieceAt(moment);
    let [first, last] = [piece, piece];
    while (first.startsAt > plannedOf(first).from) {
      const before = this.#pieceAt(first.startsAt - 1);
      if (!continues(before, first)) break;
      first = before;
    }
    while (last.endsAt < plannedOf(last).to) {
      const after = this.#pieceAt(last.endsAt);
      if (!continues(last, after)) break;
      last = after;
    }
    return first === last ? piece : { ...piece, startsAt: first.startsAt, endsAt: last.endsAt };
  }

  /**
   * Everybody whose turn it may be at a moment, each once: the person of an override, the person whom the rotation puts
   * on call, then those whose turns follow. Empty if nobody has the shift.
   */
  orderAt(moment: number): readonly string[] {
    const piece = this.#pieceAt(moment);
    if (piece.kind === 'gap') return [];
    const content = this.contentAt(moment)!;
    const { participants } = content;
    // Before the first shift, only an override puts anybody on call.
    const turn = Math.max(0, this.#calendars.of(planOf(content)).numberAt(moment));
    const first = turn % participants.length;
    return [...new Set([piece.adminUserId, ...participants.slice(first), ...participants.slice(0, first)])];
  }

  /** What the schedule said at a moment; undefined if it did not exist. */
  contentAt(moment: number): ScheduleContent | undefined {
    const { versions } = this.#history;
    return versions[lastBegun(versions, moment)]?.content ?? undefined;
  }

  /** All spans of an interval without gap between them. The first and the last one may reach beyond it. */
  *between(from: number, to: number): Generator<Span> {
    for (let moment = from; moment < to;) {
      const span = this.at(moment);
      yield span;
      moment = span.endsAt;
    }
  }

  /** The span within one version. */
  #pieceAt(moment: number): Span {
    const { versions } = this.#history;
    const index = lastBegun(versions, moment);
    const version = versions[index];
    const [from, to] = [version?.from ?? -Infinity, versions[index + 1]?.from ?? Infinity];
    if (!version) return gap('not_created', from, to);
    if (!version.content) return gap('deleted', from, to);
    if (!version.content.isEnabled) return gap('disabled', from, to);
    return this.#pieceOf(version.content, moment, from, to);
  }

  #pieceOf(content: ScheduleContent, moment: number, from: number, to: number): Span {
    const { overrides } = this.#history;
    const index = lastBegun(overrides, moment);
    const [latest, next] = [overrides[index], overrides[index + 1]];
    if (latest && moment < latest.to)
      return {
        kind: 'shift',
        adminUserId: latest.adminUserId,
        isOverride: true,
        startsAt: Math.max(latest.from, from),
        endsAt: Math.min(latest.to, to),
        plannedFrom: latest.from,
        plannedTo: latest.to,
      };
    return this.#rotationAt(
      content,
      moment,
      Math.max(from, latest?.to ?? -Infinity),
      Math.min(to, next?.from ?? Infinity),
    );
  }

  #rotationAt(content: ScheduleContent, moment: number, from: number, to: number): Span {
    const boundaries = this.#calendars.of(planOf(content));
    const number = boundaries.numberAt(moment);
    const plannedTo = boundaries.start(number + 1);
    const end = Math.min(plannedTo, to);
    if (number < 0) return gap('not_started', from, end);
    const plannedFrom = boundaries.start(number);
    return {
      kind: 'shift',
      adminUserId: content.participants[number % content.participants.length]!,
      isOverride: false,
      startsAt: Math.max(plannedFrom, from),
      endsAt: end,
      plannedFrom,
      plannedTo,
    };
  }
}

const gap = (reason: GapReason, startsAt: number, endsAt: number): GapSpan => ({
  kind: 'gap',
  reason,
  startsAt,
  endsAt,
});

const plannedOf = (span: Span): { from: number; to: number } =>
  span.kind === 'shift' ? { from: span.plannedFrom, to: span.plannedTo } : { from: -Infinity, to: Infinity };

function continues(before: Span, after: Span): boolean {
  if (before.kind === 'gap') return after.kind === 'gap' && before.reason === after.reason;
  return (
    after.kind === 'shift' &&
    before.adminUserId === after.adminUserId &&
    before.isOverride === after.isOverride &&
    before.plannedFrom === after.plannedFrom
  );
}
