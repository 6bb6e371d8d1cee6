import { v5 } from 'uuid';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { Severity } from '../../alerts/domain/vocabulary.ts';
import { pageEvents } from './page-events.ts';
import type { PageProgress } from './page-order.ts';

export interface PageState extends PageProgress {
  readonly pageId: string;
  readonly scheduleId: string;
  readonly eventId: string;
  /** When the alert called. Epoch milliseconds. */
  readonly occurredAt: number;
  readonly escalationMinutes: number;
  /** How often the alert had been opened again when the page was started. */
  readonly reopenings: number;
  /** Of the alert when somebody was last called. */
  readonly severity: Severity;
  readonly status: 'open' | 'exhausted' | 'ended';
  /** Who was called first. */
  readonly firstCalled: string | undefined;
  /** When the next step is due, in epoch milliseconds. */
  readonly dueAt: number;
}

/** By page id: all pages about one alert. */
export interface AlertPagesState {
  readonly pages: ReadonlyMap<string, PageState>;
  /** Events of the alert of which all super admins were notified. */
  readonly told: ReadonlySet<string>;
}

const withPage = (
  { pages, told }: AlertPagesState,
  pageId: string,
  change: (page: PageState) => PageState,
): AlertPagesState => {
  const page = pages.get(pageId);
  return page ? { told, pages: new Map([...pages, [pageId, change(page)]]) } : { told, pages };
};

export const alertPages = defineAggregate<AlertPagesState, typeof pageEvents>(
  pageEvents,
  { pages: new Map(), told: new Set() },
  (state, event) => {
    switch (event.type) {
      case 'PageStarted': {
        const {
          pageId,
          scheduleId,
          eventId,
          occurredAt,
          escalationMinutes,
          escalationRounds,
          severity,
          reopenings = 0,
        } = event.data;
        const page: PageState = {
          pageId,
          scheduleId,
          eventId,
          occurredAt: Date.parse(occurredAt),
          escalationMinutes,
          reopenings,
          severity,
          status: 'open',
          step: 0,
          round: 1,
          rounds: escalationRounds,
          done: [],
          firstCalled: undefined,
          dueAt: 0,
        };
        return { ...state, pages: new Map([...state.pages, [pageId, page]]) };
      }
      case 'PagePersonCalled': {
        const { pageId, step, round, adminId, passedOver, escalatesAt, severity } = event.data;
        return withPage(state, pageId, (page) => ({
          ...page,
          severity,
          step,
          round,
          done: [...(round === page.round ? page.done : []), ...passedOver.map(({ adminId: id }) => id), adminId],
          firstCalled: page.firstCalled ?? adminId,
          dueAt: Date.parse(escalatesAt),
        }));
      }
      case 'PageExhausted': {
        const told = new Set([...state.told, event.data.eventId]);
        return { ...withPage(state, event.data.pageId, (page) => ({ ...page, status: 'exhausted' })), told };
      }
      case 'PagesEnded':
        return event.data.pageIds.reduce(
          (before, pageId) => withPage(before, pageId, (page) => ({ ...page, status: 'ended' })),
          state,
        );
    }
  },
);

/** One stream for each alert: an answer ends all of its pages at once. */
export const alertPagesStream = (tenantId: TenantId, alertId: string): string => streamName('page', tenantId, alertId);

/** UUIDv5 namespace (RFC 9562 §5.5): one page for each schedule and event of an alert. */
const PAGES = '0d3f6c58-92b1-4a7e-8c40-5e1b7a9d2f63';

export const pageIdOf = (tenantId: TenantId, eventId: string, scheduleId: string): string =>
  v5(`${tenantId}|${eventId}|${scheduleId}`, PAGES);
