import { z } from 'zod';
import type { DeliveryRow } from '../../projections/notifications/deliveries.ts';
import type { OnCallPageRow } from '../../projections/on-call/on-call-pages.ts';
import { severitySchema } from '../../src/contexts/alerts/domain/vocabulary.ts';
import { deliveryStates } from '../../src/contexts/notifications/domain/delivery.ts';
import { channelNameSchema } from '../../src/contexts/notifications/domain/message.ts';
import { pageEndings } from '../../src/contexts/on-call/domain/page-events.ts';
import { unreachableReasons, type PassedOver } from '../../src/contexts/on-call/domain/page-order.ts';
import { pageStates, type PageStatus } from '../../src/contexts/on-call/domain/page-status.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { KeysetPaginated, Page, Query, TenantReads } from '../../src/platform/kernel/query.ts';
import { ascending, descending, listPage, type KeysetOrder } from '../keyset.ts';
import { peopleOnCall, type People } from './schedules-in-time.ts';

const when = z.iso.datetime().nullable();
/** E-mail and name are null if the account was deleted since. */
const person = { adminUserId: z.uuid(), email: z.string().nullable(), displayName: z.string().nullable() };
const passedOver = z.array(z.object({ ...person, reason: z.enum(unreachableReasons) }));

const stepView = z
  .object({
    step: z.int(),
    round: z.int(),
    ...person,
    /** People before this one who could not be reached. */
    passedOver,
    calledAt: z.iso.datetime(),
  })
  .meta({ title: 'OnCallPagingStep' });

/** A page: one alert, one schedule, and everybody who was called. */
export const pageView = z
  .object({
    id: z.uuid(),
    alertId: z.uuid(),
    scheduleId: z.uuid(),
    severity: severitySchema,
    state: z.enum(pageStates),
    escalationMinutes: z.int(),
    escalationRounds: z.int(),
    steps: z.array(stepView),
    /** Who could not be reached when nobody was left to call. */
    passedOver,
    /** When the next person is called. Null: the page is over. */
    nextStepAt: when,
    startedAt: z.iso.datetime(),
    exhaustedAt: when,
    endedAt: when,
    endedBy: z.uuid().nullable(),
    ending: z.enum(pageEndings).nullable(),
  })
  .meta({ title: 'OnCallPaging' });
export type PageView = z.output<typeof pageView>;

/** Messages of a page that a response shows. */
export const MAX_PAGE_DELIVERIES = 500;
const receiptView = z
  .object({
    deliveryId: z.uuid(),
    channel: channelNameSchema,
    /** The step that called; null for the message to all super admins. */
    step: z.int().nullable(),
    state: z.enum(deliveryStates),
    attemptCount: z.int(),
    lastResponse: z.string().nullable(),
    plannedAt: z.iso.datetime(),
    deliveredAt: when,
  })
  .meta({ title: 'OnCallPagingReceipt' });
export const pageWithReceipts = pageView
  .extend({ deliveries: z.array(receiptView), deliveriesAreTruncated: z.boolean() })
  .meta({ title: 'OnCallPagingWithReceipts' });
type PageWithReceipts = z.output<typeof pageWithReceipts>;

const toPage = (row: OnCallPageRow, people: People): PageView => {
  const named = (adminId: string) => ({ adminUserId: adminId, ...people.personOf(adminId) });
  const passed = (list: readonly PassedOver[]) => list.map(({ adminId, reason }) => ({ ...named(adminId), reason }));
  return {
    id: row.page_id,
    alertId: row.alert_id,
    scheduleId: row.schedule_id,
    severity: row.severity,
    state: row.state,
    escalationMinutes: row.escalation_minutes,
    escalationRounds: row.escalation_rounds,
    steps: row.steps.map(({ step, round, adminId, passedOver: before, calledAt }) => ({
      step,
      round,
      ...named(adminId),
      passedOver: passed(before),
      calledAt,
    })),
    passedOver: passed(row.passed_over),
    nextStepAt: row.due_at,
    startedAt: row.started_at,
    exhaustedAt: row.exhausted_at,
    endedAt: row.ended_at,
    endedBy: row.ended_by,
    ending: row.ending,
  };
};

async function viewsOf(reads: TenantReads, rows: readonly OnCallPageRow[]): Promise<PageView[]> {
  const ids = rows.flatMap(({ steps, passed_over: last }) => [
    ...steps.flatMap((step) => [step.adminId, ...step.passedOver.map(({ adminId }) => adminId)]),
    ...last.map(({ adminId }) => adminId),
  ]);
  const people = await peopleOnCall(reads, ids);
  return rows.map((row) => toPage(row, people));
}

export interface PageFilter {
  readonly state?: PageStatus | undefined;
  readonly alertId?: string | undefined;
  readonly scheduleId?: string | undefined;
  /** Inclusive, ISO 8601. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const FILTER = `
   where p.tenant_id = $1
     and ($2::text is null or p.state = $2)
     and ($3::uuid is null or p.alert_id = $3)
     and ($4::uuid is null or p.schedule_id = $4)
     and ($5::timestamptz is null or p.started_at >= $5)
     and ($6::timestamptz is null or p.started_at <= $6)`;
/** Counting stops here. */
const COUNTED = 10_000;
const COUNT = `select count(*)::int as total from (select from on_call_pages p ${FILTER} limit ${COUNTED}) counted`;

export const pageOrder: KeysetOrder<OnCallPageRow> = {
  list: 'on-call-pages',
  columns: [descending('p.started_at', 'timestamptz'), ascending('p.page_id', 'uuid')],
  valuesOf: ({ started_at, page_id }) => [started_at, page_id],
};

/** Newest first. */
export const listPages: Query<PageFilter & Page, { pages: PageView[] } & KeysetPaginated> = async (reads, input) => {
  const { state = null, alertId = null, scheduleId = null, from = null, to = null } = input;
  const { rows, ...pagination } = await listPage(
    reads,
    {
      order: pageOrder,
      count: COUNT,
      counted: COUNTED,
      page: ({ where, tail }) => `select p.* from on_call_pages p ${FILTER} ${where} ${tail}`,
    },
    [state, alertId, scheduleId, from, to],
    input,
  );
  return { pages: await viewsOf(reads, rows), ...pagination };
};

const ONE = 'select * from on_call_pages where tenant_id = $1 and page_id = $2';
/** The messages of the steps, and that to all super admins about the same event. */
const RECEIPTS = `
  select * from deliveries
   where tenant_id = $1 and alert_id = $2
     and (subject->>'pageId' = $3::text
          or (subject->>'notice' = 'page_unanswered' and subject->>'eventId' = $4::text))
   order by planned_at, delivery_id limit ${MAX_PAGE_DELIVERIES + 1}`;

const toReceipt = (row: DeliveryRow) => ({
  deliveryId: row.delivery_id,
  channel: row.channel,
  step: row.subject.kind === 'page' ? row.subject.step : null,
  state: row.state,
  attemptCount: row.attempts,
  lastResponse: row.last_response,
  plannedAt: row.planned_at,
  deliveredAt: row.delivered_at,
});

/** A page with the receipts of its messages. */
export const getPage: Query<{ readonly pageId: string }, PageWithReceipts> = async (reads, { pageId }) => {
  const row = await reads.one<OnCallPageRow>(ONE, [pageId]);
  if (!row) return notFound();
  const [[page], receipts] = await Promise.all([
    viewsOf(reads, [row]),
    reads.rows<DeliveryRow>(RECEIPTS, [row.alert_id, pageId, row.event_id]),
  ]);
  return {
    ...page!,
    deliveries: receipts.slice(0, MAX_PAGE_DELIVERIES).map(toReceipt),
    deliveriesAreTruncated: receipts.length > MAX_PAGE_DELIVERIES,
  };
};
