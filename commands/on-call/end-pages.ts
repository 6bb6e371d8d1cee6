import { alertPages, alertPagesStream } from '../../src/contexts/on-call/domain/alert-pages.ts';
import type { ResponseKind } from '../../src/contexts/on-call/domain/page-events.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

export interface EndPages {
  readonly alertId: string;
  readonly ending: ResponseKind;
  /** Null: not an administrator. */
  readonly adminId: string | null;
  /** When the alert was answered, RFC 3339. */
  readonly endedAt: string;
}

/** An admin took the alert on: no further person is called. Pages of a later event of the alert go on. */
export const endPages = defineCommand({
  name: 'EndPages',
  aggregate: alertPages,
  stream: ({ alertId }: EndPages, { tenantId }) => alertPagesStream(tenantId, alertId),
  decide({ pages }, { alertId, ending, adminId, endedAt }) {
    const pageIds = [...pages.values()]
      .filter(({ status, occurredAt }) => status !== 'ended' && occurredAt <= Date.parse(endedAt))
      .map(({ pageId }) => pageId);
    return accept(
      pageIds.length === 0 ? [] : [{ type: 'PagesEnded', data: { alertId, pageIds, ending, adminId, endedAt } }],
    );
  },
});
