import type pg from 'pg';
import { z } from 'zod';
import { escalatePage } from '../../../commands/on-call/escalate-page.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import { maintenanceQuery } from '../../platform/database/time-limits.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import { declareJob, defineJob, JobFailed, type AnyJob } from '../../platform/jobs/job.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import { system } from '../../platform/kernel/actor.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import { asTenantId, uuid, type TenantId } from '../../platform/kernel/ids.ts';
import { alertAfter, type AlertHistory } from '../notifications/alert-document.ts';
import { readAudience, type AudiencePorts } from '../notifications/push/read-audience.ts';
import { calleesOf, superAdminsOf, waysOf } from './callees.ts';
import { alertPages, alertPagesStream } from './domain/alert-pages.ts';

/** One step of one page. A lost job is made again by `duePages`; a job for a step that is over does nothing. */
export const pageEscalation = declareJob({
  name: 'escalate-page',
  data: z.object({ tenantId: uuid(), alertId: uuid(), pageId: uuid(), step: z.int().min(1) }),
  attempts: 3,
  backoff: { firstMs: 1_000, longestMs: 10_000 },
  timeoutMs: 60_000,
});

/** Finds pages whose timer has run out. Runs every 20 seconds. */
export const duePages = declareJob({
  name: 'find-due-pages',
  data: z.object({}),
  attempts: 2,
  backoff: { firstMs: 5_000, longestMs: 10_000 },
});

const TIME_LIMIT_MS = 15_000;
const AT_ONCE = 5_000;
/** A tenant with many pages leaves room for others. */
const PER_TENANT = 500;

const DUE = `
  select tenant_id, alert_id, page_id, step from (
    select tenant_id, alert_id, page_id, step, due_at,
           row_number() over (partition by tenant_id order by due_at) as turn
      from on_call_pages where due_at <= $1) due
   where turn <= ${PER_TENANT} order by turn, due_at limit ${AT_ONCE}`;

interface Due {
  readonly tenant_id: string;
  readonly alert_id: string;
  readonly page_id: string;
  readonly step: number;
}

export interface DuePagesPorts {
  readonly projector: pg.Pool;
  jobs(): Pick<Jobs, 'enqueue'>;
}

/**
 * The timers of pages are events of the log. The table says which are due, and every sweep makes their jobs again: after
 * a crash, an outage, or the loss of all jobs.
 */
export const findDuePages = ({ projector, jobs }: DuePagesPorts): AnyJob =>
  defineJob({
    ...duePages,
    handle: async (_data, { signal }) => {
      const now = new Date().toISOString();
      const due = await maintenanceQuery<Due>(projector, TIME_LIMIT_MS, DUE, [now]);
      for (const { tenant_id, alert_id: alertId, page_id: pageId, step } of due.rows) {
        if (signal.aborted) return;
        const tenantId = asTenantId(tenant_id);
        // At most one more job a minute for each step.
        const id = `${pageId}/${step}/${now.slice(0, 16)}`;
        await jobs().enqueue(pageEscalation, { tenantId, alertId, pageId, step }, { id, tenantId });
      }
    },
  });

export interface EscalationPorts extends AlertHistory, AudiencePorts {
  readonly executor: Pick<Executor<CommandPorts>, 'execute'>;
}

/** Calls the next person of a page that nobody has answered. */
export const escalatePageJob = (ports: EscalationPorts): AnyJob =>
  defineJob({
    ...pageEscalation,
    handle: async ({ tenantId, alertId, pageId, step }) => {
      try {
        await escalate(ports, asTenantId(tenantId), { alertId, pageId, step });
      } catch (error) {
        throw error instanceof JobFailed ? error : new JobFailed('the page was not escalated', { cause: error });
      }
    },
  });

interface DueStep {
  readonly alertId: string;
  readonly pageId: string;
  readonly step: number;
}

async function escalate(ports: EscalationPorts, tenantId: TenantId, due: DueStep): Promise<void> {
  const { executor, aggregates } = ports;
  const { alertId, pageId, step } = due;
  const now = Date.now();
  const { pages } = await aggregates.load(alertPages, alertPagesStream(tenantId, alertId));
  const page = pages.get(pageId);
  if (page?.status !== 'open' || page.step !== step || page.dueAt > now) return;
  const alert = await alertAfter(ports, tenantId, { alertId, eventId: page.eventId });
  const audience = await readAudience(ports, tenantId, { from: now, to: now });
  const people = audience.at(now);
  const ways = await waysOf(aggregates, tenantId);
  const order = calleesOf(audience.orderIn(page.scheduleId, now), people, ways);
  const input = { ...due, order, superAdmins: superAdminsOf(people, ways), isErased: alert === undefined };
  orThrow(await executor.execute(escalatePage, input, { tenantId, actor: system('paging') }));
}
