import type { Severity } from '../../alerts/domain/vocabulary.ts';
import type { Recipient } from '../../notifications/domain/message.ts';
import type { AlertPagesState } from './alert-pages.ts';
import { MAX_PAGE_RECIPIENTS, type PageEvent } from './page-events.ts';
import { nextCall, type Callee } from './page-order.ts';

const MINUTE_MS = 60_000;

export interface PageSituation {
  readonly alertId: string;
  readonly severity: Severity;
  readonly order: readonly Callee[];
  readonly superAdmins: readonly Recipient[];
  /** Epoch milliseconds. */
  readonly now: number;
}

type PageStep = Extract<PageEvent, { type: 'PagePersonCalled' | 'PageExhausted' }>;

/**
 * The next step of an open page: a person is called, or all super admins are notified, once for an event of the alert.
 */
export function nextStep(
  { pages, told }: AlertPagesState,
  pageId: string,
  { alertId, severity, order, superAdmins, now }: PageSituation,
): PageStep {
  const page = pages.get(pageId)!;
  const { scheduleId, eventId } = page;
  const about = { pageId, alertId, scheduleId, eventId };
  const next = nextCall(page, order);
  const passedOver = [...next.passedOver];
  const moment = new Date(now).toISOString();
  if (next.kind === 'exhausted') {
    const recipients = told.has(eventId) ? [] : superAdmins.slice(0, MAX_PAGE_RECIPIENTS);
    return { type: 'PageExhausted', data: { ...about, passedOver, recipients, exhaustedAt: moment } };
  }
  return {
    type: 'PagePersonCalled',
    data: {
      ...about,
      severity,
      step: page.step + 1,
      round: next.round,
      adminId: next.adminId,
      passedOver,
      recipients: next.recipients.slice(0, MAX_PAGE_RECIPIENTS),
      calledAt: moment,
      escalatesAt: new Date(now + page.escalationMinutes * MINUTE_MS).toISOString(),
    },
  };
}
