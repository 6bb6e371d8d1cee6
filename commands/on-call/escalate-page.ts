import { alertStream } from '../../src/contexts/alerts/domain/alert.ts';
import type { Recipient } from '../../src/contexts/notifications/domain/message.ts';
import { alertPages, alertPagesStream } from '../../src/contexts/on-call/domain/alert-pages.ts';
import { pagedAlert } from '../../src/contexts/on-call/domain/paged-alert.ts';
import type { PageEnding } from '../../src/contexts/on-call/domain/page-events.ts';
import type { Callee } from '../../src/contexts/on-call/domain/page-order.ts';
import { nextStep } from '../../src/contexts/on-call/domain/page-step.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import type { WithAggregates } from '../ports.ts';
import type { AlertFacts } from './start-page.ts';

export interface EscalatePage {
  readonly alertId: string;
  readonly pageId: string;
  /** The step that nobody answered. */
  readonly step: number;
  /** Who is called, in the order of this moment. */
  readonly order: readonly Callee[];
  readonly superAdmins: readonly Recipient[];
  /** The person whom the alert is about was erased. */
  readonly isErased: boolean;
}

/**
 * The timer of a page has run out: the next person is called. Nothing happens if it is not due, or if another process
 * was faster: the append at the expected revision lets one decide.
 */
export const escalatePage = defineCommand({
  name: 'EscalatePage',
  aggregate: alertPages,
  stream: ({ alertId }: EscalatePage, { tenantId }) => alertPagesStream(tenantId, alertId),
  prepare: async ({ alertId }: EscalatePage, { aggregates }: WithAggregates, { tenantId }): Promise<AlertFacts> => ({
    alert: await aggregates.load(pagedAlert, alertStream(tenantId, alertId)),
  }),
  decide(state, { alertId, pageId, step, order, superAdmins, isErased }, { now }, { alert }: AlertFacts) {
    const page = state.pages.get(pageId);
    if (page?.status !== 'open' || page.step !== step || page.dueAt > now) return accept([]);
    // Answered before the alert was opened again: the answer ends it, and another page calls.
    if (alert && !isErased && page.reopenings < alert.reopenings) return accept([]);
    const ending: PageEnding | null = isErased || !alert ? 'erased' : alert.answer;
    if (ending !== null) {
      const endedAt = new Date(now).toISOString();
      return accept([{ type: 'PagesEnded', data: { alertId, pageIds: [pageId], ending, adminId: null, endedAt } }]);
    }
    return accept([nextStep(state, pageId, { alertId, severity: alert!.severity, order, superAdmins, now })]);
  },
});
