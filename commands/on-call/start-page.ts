import { alertStream } from '../../src/contexts/alerts/domain/alert.ts';
import type { Recipient } from '../../src/contexts/notifications/domain/message.ts';
import {
  alertPages,
  alertPagesStream,
  pageIdOf,
  type AlertPagesState,
  type PageState,
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

/** A page from before the alert was opened again has been answered, whether or not that has ended it yet. */
const openPageOf = (
  { pages }: AlertPagesState,
  scheduleId: string,
  { reopenings }: PagedAlert,
): PageState | undefined =>
  [...pages.values()].find(
    (page) => page.scheduleId === scheduleId && page.status === 'open' && page.reopenings === reopenings,
  );

/** Who would be called now. */
const firstOf = (order: readonly Callee[]): string | undefined =>
  order.find((callee) => 'recipients' in callee)?.adminId;

/**
 * Pages the person on call of a schedule about an alert that nobody has answered. The result is who needs no ordinary
 * push about the event: the person who was called first, also by a page of the schedule that is still open, or who
 * would have been called if nobody had answered the alert meanwhile (OP-544).
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
    if (!alert) return acceptWith<PageEvent, string | undefined>(undefined, []);
    const open = openPageOf(state, input.scheduleId, alert);
    if (open) {
      // An alert that became more severe is news, also to the person whom the page has called.
      const isKnown = open.severity === alert.severity;
      return acceptWith<PageEvent, string | undefined>(isKnown ? open.firstCalled : undefined, []);
    }
    if (alert.answer !== null) return acceptWith<PageEvent, string | undefined>(firstOf(order), []);
    const started = {
      type: 'PageStarted' as const,
      data: {
        pageId,
        ...input,
        severity: alert.severity,
        startedAt: new Date(now).toISOString(),
        reopenings: alert.reopenings,
      },
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
