import { alertPages, alertPagesStream, type PageState } from '../../src/contexts/on-call/domain/alert-pages.ts';
import type { ResponseKind } from '../../src/contexts/on-call/domain/page-events.ts';
import { alertStream } from '../../src/contexts/alerts/domain/alert.ts';
import { pagedAlert } from '../../src/contexts/on-call/domain/paged-alert.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import type { WithAggregates } from '../ports.ts';
import type { AlertFacts } from './start-page.ts';

export interface EndPages {
  readonly alertId: string;
  readonly ending: ResponseKind;
  /** Null: not an administrator. */
  readonly adminId: string | null;
  /** When the alert was answered, RFC 3339. */
  readonly endedAt: string;
}

/**
 * An admin took the alert on: no further person is called. Pages of a later event of the alert go on, and so do pages
 * that were started after the alert had been opened again, also for an earlier event.
 */
export const endPages = defineCommand({
  name: 'EndPages',
  aggregate: alertPages,
  stream: ({ alertId }: EndPages, { tenantId }) => alertPagesStream(tenantId, alertId),
  /** Undefined: nobody is called about the alert, as for most of them. */
  prepare: async (
    { alertId }: EndPages,
    { aggregates }: WithAggregates,
    { tenantId },
  ): Promise<AlertFacts | undefined> => {
    const { pages } = await aggregates.load(alertPages, alertPagesStream(tenantId, alertId));
    const isAnybodyCalled = [...pages.values()].some(({ status }) => status !== 'ended');
    return isAnybodyCalled ? { alert: await aggregates.load(pagedAlert, alertStream(tenantId, alertId)) } : undefined;
  },
  isNeedless: (facts) => facts === undefined,
  decide({ pages }, { alertId, ending, adminId, endedAt }, _context, facts: AlertFacts | undefined) {
    const alert = facts?.alert;
    const isAnswered = ({ reopenings }: PageState) => !alert || alert.answer !== null || reopenings < alert.reopenings;
    const pageIds = [...pages.values()]
      .filter(({ status, occurredAt }) => status !== 'ended' && occurredAt <= Date.parse(endedAt))
      .filter(isAnswered)
      .map(({ pageId }) => pageId);
    return accept(
      pageIds.length === 0 ? [] : [{ type: 'PagesEnded', data: { alertId, pageIds, ending, adminId, endedAt } }],
    );
  },
});
