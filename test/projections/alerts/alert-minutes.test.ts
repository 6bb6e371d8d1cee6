import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { acknowledgeAlert } from '../../../commands/alerts/acknowledge-alert.ts';
import { changeAlertSeverity } from '../../../commands/alerts/change-alert-severity.ts';
import { raiseAlert } from '../../../commands/alerts/raise-alert.ts';
import { reopenAlert } from '../../../commands/alerts/reopen-alert.ts';
import { resolveAlert } from '../../../commands/alerts/resolve-alert.ts';
import {
  alertMinutes,
  noFigures,
  sumAlertFigures,
  type AlertFigures,
  type AlertMinuteRow,
} from '../../../projections/alerts/alert-minutes.ts';
import { toTriageMetrics, type TriageMetrics } from '../../../queries/alerts/triage-metrics.ts';
import { alert } from '../../../src/contexts/alerts/domain/alert.ts';
import { chartWindowOf, windowStart } from '../../../src/contexts/alerts/domain/timeframe.ts';
import { severities, type Severity } from '../../../src/contexts/alerts/domain/vocabulary.ts';
import { ZonedDays } from '../../../src/platform/time-zones/zoned-days.ts';
import { isFailure } from '../../../src/platform/kernel/failure.ts';
import type { AlertEvent } from '../../../src/contexts/alerts/domain/events.ts';
import type { AnyCommand } from '../../../src/platform/kernel/command.ts';
import type { RecordedEvent } from '../../../src/platform/kernel/event.ts';
import { context, NOW, recorded, rowsAfter } from '../../dsl/given.ts';

interface Action {
  readonly which: number;
  readonly what: 'acknowledge' | 'resolved' | 'false_positive' | 'reopen' | Severity;
  readonly minutes: number;
}
const ALERTS = 4;
const idOf = (n: number) => `0198a000-0000-7000-8000-00000000000${n}`;
const raise = (n: number) => ({
  alertId: idOf(n),
  alertType: 'weak_password',
  title: '',
  description: '',
  fingerprint: `f${n}`,
  userId: null,
  deviceId: null,
  domain: null,
  url: null,
  cause: idOf(n),
  metadata: {},
});

function commandOf({ which, what }: Action): readonly [AnyCommand, unknown] {
  const alertId = idOf(which);
  if (what === 'acknowledge') return [acknowledgeAlert, { alertId, notes: null }];
  if (what === 'reopen') return [reopenAlert, { alertId, notes: null }];
  if (what === 'resolved' || what === 'false_positive')
    return [resolveAlert, { alertId, status: what, resolution: null }];
  return [changeAlertSeverity, { alertId, severity: what, reason: null }];
}

/** The stream that results from these decisions; refused commands leave no event. */
function historyOf(actions: readonly Action[]): RecordedEvent<AlertEvent>[] {
  const states = Array.from({ length: ALERTS }, () => alert.initial);
  const events: RecordedEvent<AlertEvent>[] = [];
  let now = NOW;
  const run = (which: number, command: AnyCommand, input: unknown, facts?: unknown) => {
    const decision = command.decide(states[which], input, context({ now }), facts);
    if (isFailure(decision)) return;
    for (const event of decision.events) {
      states[which] = alert.fold(states[which]!, event as AlertEvent);
      events.push(recorded(event as AlertEvent, events.length + 1, { recordedAt: now }));
    }
  };
  for (let n = 0; n < ALERTS; n += 1) {
    run(n, raiseAlert as AnyCommand, raise(n), { severity: severities[n] });
    now += 25 * 60_000;
  }
  for (const action of actions) {
    now += action.minutes * 60_000;
    run(action.which, ...commandOf(action));
  }
  return events;
}

const WINDOW = { timeframe: '7d', from: '2026-05-25T12:00:00.000Z', to: '2026-06-01T12:00:00.000Z' } as const;

/** A direct count: every alert's life from its events, by their recording times. */
function recount(events: readonly RecordedEvent[]): TriageMetrics & { bySeverity: Record<Severity, number> } {
  const lives = new Map<
    string,
    { raised: number; severity: Severity; acknowledged: number | null; closed: number | null; status: string }
  >();
  for (const { type, data, recordedAt } of events as (RecordedEvent & { data: Record<string, string> })[]) {
    const life = lives.get(data['alertId']!);
    if (type === 'AlertRaised')
      lives.set(data['alertId']!, {
        raised: recordedAt,
        severity: data['severity'] as Severity,
        acknowledged: null,
        closed: null,
        status: 'open',
      });
    if (!life) continue;
    if (type === 'AlertSeverityChanged') life.severity = data['severity'] as Severity;
    if (type === 'AlertAcknowledged')
      Object.assign(life, { acknowledged: life.acknowledged ?? recordedAt, status: 'acknowledged' });
    if (type === 'AlertResolved') Object.assign(life, { closed: recordedAt, status: data['status'] });
    if (type === 'AlertReopened') Object.assign(life, { acknowledged: null, closed: null, status: 'open' });
  }
  const all = [...lives.values()];
  const mean = (values: number[]) =>
    values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length / 1000;
  const closed = all.filter((life) => life.closed !== null);
  const acknowledged = all.filter((life) => life.acknowledged !== null);
  return {
    ...WINDOW,
    totalAlerts: all.length,
    mttrSeconds: mean(closed.map((life) => life.closed! - life.raised)),
    mttaSeconds: mean(acknowledged.map((life) => life.acknowledged! - life.raised)),
    acknowledgmentRate: acknowledged.length / all.length,
    resolutionRate: closed.length / all.length,
    falsePositiveRate:
      closed.length === 0 ? 0 : closed.filter(({ status }) => status === 'false_positive').length / closed.length,
    bySeverity: Object.fromEntries(
      severities.map((severity) => [severity, all.filter((life) => life.severity === severity).length]),
    ) as Record<Severity, number>,
  };
}

const actions = fc.array(
  fc.record({
    which: fc.integer({ min: 0, max: ALERTS - 1 }),
    what: fc.constantFrom(
      'acknowledge' as const,
      'resolved' as const,
      'false_positive' as const,
      'reopen' as const,
      ...severities,
    ),
    minutes: fc.integer({ min: 0, max: 300 }),
  }),
  { maxLength: 40 },
);

describe('the figures of alerts', () => {
  it('equal a recount of the events for any sequence of actions, in batches of any size', () => {
    fc.assert(
      fc.property(actions, fc.integer({ min: 1, max: 9 }), (taken, size) => {
        const events = historyOf(taken);
        const rows = rowsAfter(alertMinutes, events, size) as unknown as AlertMinuteRow[];
        const figures: AlertFigures = rows.reduce((sum, row) => sumAlertFigures(sum, row), noFigures);
        const { bySeverity, ...expected } = recount(events);
        expect(toTriageMetrics(WINDOW, figures)).toEqual(expected);
        expect(figures).toMatchObject(bySeverity);
        expect(rows.length).toBe(ALERTS);
      }),
      { numRuns: 300 },
    );
  });

  it('leave out changes from before events recorded the previous status', () => {
    const [raisedEvent] = historyOf([]);
    const old = recorded(
      {
        type: 'AlertResolved',
        data: {
          alertId: idOf(0),
          status: 'resolved',
          resolution: null,
          fingerprint: 'f0',
          userId: null,
          was: null,
          is: null,
        },
      },
      2,
    );
    expect(rowsAfter(alertMinutes, [raisedEvent!, old])).toMatchObject([{ raised: 1, resolved: 0 }]);
  });
});

describe('the window of a chart', () => {
  it.each([
    ['24h', 24, 'hour', '2026-05-31T13:00:00.000Z', '2026-06-01T12:00:00.000Z'],
    ['7d', 7, 'day', '2026-05-26', '2026-06-01'],
    ['30d', 30, 'day', '2026-05-03', '2026-06-01'],
    ['90d', 90, 'day', '2026-03-04', '2026-06-01'],
  ] as const)('of %s has %i buckets by the %s', (timeframe, length, interval, first, last) => {
    const window = chartWindowOf(timeframe, NOW + 59 * 60_000, new ZonedDays('UTC'));
    expect([window.interval, window.buckets.length, window.buckets[0], window.buckets.at(-1)]).toEqual([
      interval,
      length,
      first,
      last,
    ]);
  });

  it('has days of the time zone, also those on which clocks change', () => {
    // Clocks go forward in Berlin on 29 March 2026 at 01:00 UTC.
    const { buckets, bounds } = chartWindowOf('7d', Date.parse('2026-03-30T22:30:00Z'), new ZonedDays('Europe/Berlin'));
    expect([buckets.at(-1), bounds.at(-2), bounds.at(-1)]).toEqual([
      '2026-03-31',
      '2026-03-30T22:00:00.000Z',
      '2026-03-31T22:00:00.000Z',
    ]);
    expect(bounds.slice(4, 6)).toEqual(['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z']);
  });

  it.each([
    ['24h', 24],
    ['7d', 168],
    ['30d', 720],
    ['90d', 2_160],
  ] as const)('of triage metrics for %s begins %i hours ago, at the minute', (timeframe, hours) => {
    const now = NOW + 59_999;
    expect(windowStart(timeframe, now)).toBe(new Date(NOW - hours * 3_600_000).toISOString());
  });
});
