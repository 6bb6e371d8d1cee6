import type { Severity } from '../../src/contexts/alerts/domain/vocabulary.ts';
import { pageEvents, type PageEnding } from '../../src/contexts/on-call/domain/page-events.ts';
import type { PassedOver } from '../../src/contexts/on-call/domain/page-order.ts';
import type { PageStatus } from '../../src/contexts/on-call/domain/page-status.ts';
import {
  changeExisting,
  defineReadModel,
  id,
  integer,
  json,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

export interface PageStepRow {
  readonly step: number;
  readonly round: number;
  readonly adminId: string;
  readonly passedOver: readonly PassedOver[];
  readonly calledAt: string;
}

const columns = {
  page_id: id,
  alert_id: id,
  schedule_id: id,
  /** The event of the alert that calls people. */
  event_id: id,
  severity: text as Column<Severity>,
  state: text as Column<PageStatus>,
  escalation_minutes: integer,
  escalation_rounds: integer,
  step: integer,
  /** At most `MAX_PAGE_STEPS`. */
  steps: json<readonly PageStepRow[]>(),
  /** Who could not be reached when nobody was left. */
  passed_over: json<readonly PassedOver[]>(),
  /** When the next person is called. Null: the page is over. */
  due_at: nullable(timestamp),
  started_at: timestamp,
  exhausted_at: nullable(timestamp),
  ended_at: nullable(timestamp),
  ended_by: nullable(id),
  ending: nullable(text) as Column<PageEnding | null>,
};
export type OnCallPageRow = Row<{ columns: typeof columns }>;

const change = changeExisting<OnCallPageRow>()('page_id');

/** Pages with everybody who was called. Timers are decided by the log; this table only finds those that are due. */
export const onCallPages = defineReadModel({
  name: 'on_call_pages',
  version: 1,
  lane: 'main',
  columns,
  key: ['page_id'],
  indexes: [
    ['started_at desc', 'page_id'],
    ['alert_id', 'started_at desc'],
    ['schedule_id', 'started_at desc'],
    ['state', 'started_at desc'],
    '(tenant_id, due_at) where due_at is not null',
  ],
  families: [pageEvents],
  on: {
    PageStarted: ({ data }) => ({
      key: { page_id: data.pageId },
      begins: true,
      fold: () => ({
        page_id: data.pageId,
        alert_id: data.alertId,
        schedule_id: data.scheduleId,
        event_id: data.eventId,
        severity: data.severity,
        state: 'paged' as const,
        escalation_minutes: data.escalationMinutes,
        escalation_rounds: data.escalationRounds,
        step: 0,
        steps: [],
        passed_over: [],
        due_at: null,
        started_at: data.startedAt,
        exhausted_at: null,
        ended_at: null,
        ended_by: null,
        ending: null,
      }),
    }),
    PagePersonCalled: ({ data: { pageId, severity, step, round, adminId, passedOver, calledAt, escalatesAt } }) =>
      change(pageId, (row) => ({
        ...row,
        severity,
        state: step === 1 ? 'paged' : 'escalated',
        step,
        steps: [...row.steps, { step, round, adminId, passedOver, calledAt }],
        due_at: escalatesAt,
      })),
    PageExhausted: ({ data: { pageId, passedOver, exhaustedAt } }) =>
      change(pageId, (row) => ({
        ...row,
        state: 'exhausted',
        passed_over: passedOver,
        due_at: null,
        exhausted_at: exhaustedAt,
      })),
    PagesEnded: ({ data: { pageIds, ending, adminId, endedAt } }) =>
      pageIds.map((pageId) =>
        change(pageId, (row) => ({
          ...row,
          state: ending === 'erased' ? 'withdrawn' : 'acknowledged',
          due_at: null,
          ended_at: endedAt,
          ended_by: adminId,
          ending,
        })),
      ),
  },
});
