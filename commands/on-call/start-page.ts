import { alertStream } from '../../src/contexts/alerts/domain/alert.ts';
import type { Recipient } from '../../src/contexts/notifications/domain/message.ts';
import {
  alertPages,
  alertPagesStream,
  pageIdOf,
  type AlertPagesState,
} from '../../src/contexts/on-call/domain/alert-pages.ts';
import { pagedAlert, type PagedAlert } from '../../src/contexts/on-call/domain/paged-alert.ts';
import type { PageEvent } from '../../src/contexts/on-call/domain/page-events.ts';
import type { Callee } from '../../src/contexts/on-call/domain/page-order.ts';
import { nextStep } from '../../src/contexts/on-call/domain/page-step.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import type { WithAggregates } from '../ports.ts';

export interface StartPage {
  readonly alertId: string;
  /** The event of the alert that calls people, and when it happened (RFC 3339). */
  readonly eventId: string;
  readonly occurredAt: string;
  readonly scheduleId: string;
  readonly escalationMinutes: number;
  readonly escalationRounds: number;
  /** Who is called, in this order. */
  readonly order: readonly Callee[];
  readonly superAdmins: readonly Recipient[];
}

export interface AlertFacts {
  /** Undefined: there is no such alert. */
  readonly alert: PagedAlert | undefined;
}

const isOpenFor = ({ pages }: AlertPagesState, scheduleId: string): boolean =>
  [...pages.values()].some((page) => page.scheduleId === scheduleId && page.status === 'open');

/**
 * Pages the person on call of a schedule about an alert that nobody has answered. The result is who was called first;
 * undefined if nobody was, or if a page of the schedule about this alert is still open.
 */
export const startPage = defineCommand({
  name: 'StartPage',
  aggregate: alertPages,
  stream: ({ alertId }: StartPage, { tenantId }) => alertPagesStream(tenantId, alertId),
  prepare: async ({ alertId }: StartPage, { aggregates }: WithAggregates, { tenantId }): Promise<AlertFacts> => ({
    alert: await aggregates.load(pagedAlert, alertStream(tenantId, alertId)),
  }),
  decide(state, { order, superAdmins, ...input }, { tenantId, now }, { alert }: AlertFacts) {
    const pageId = pageIdOf(tenantId, input.eventId, input.scheduleId);
    const existing = state.pages.get(pageId);
    if (existing) return acceptWith<PageEvent, string | undefined>(existing.firstCalled, []);
    if (!alert || alert.answer !== null || isOpenFor(state, input.scheduleId))
      return acceptWith<PageEvent, string | undefined>(undefined, []);
    const started = {
      type: 'PageStarted' as const,
      data: { pageId, ...input, severity: alert.severity, startedAt: new Date(now).toISOString() },
    };
    const step = nextStep(alertPages.fold(state, started), pageId, {
      alertId: input.alertId,
      severity: alert.severity,
      order,
      superAdmins,
      now,
    });
    const called = step.type === 'PagePersonCalled' ? step.data.adminId : undefined;
    return acceptWith<PageEvent, string | undefined>(called, [started, step]);
  },
  recall: (_before, events) =>
    events.flatMap((event) => (event.type === 'PagePersonCalled' ? [event.data.adminId] : []))[0],
});
