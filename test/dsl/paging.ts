import { randomUUID } from 'node:crypto';
import { escalatePageJob, findDuePages, type EscalationPorts } from '../../src/contexts/on-call/escalate-pages.ts';
import { alertPagesStream } from '../../src/contexts/on-call/domain/alert-pages.ts';
import type { AnyJob } from '../../src/platform/jobs/job.ts';
import type { TestApp, TestTenant } from './app.ts';

export const PAGES = '/api/v1/admin/on-call/pages';
export const SCHEDULES = '/api/v1/admin/on-call/schedules';

type Services = TestApp['services'];

const portsOf = ({ executor, store, codec, freshness, reads, loader, shiftCalendars }: Services): EscalationPorts => ({
  executor,
  store,
  codec,
  freshness,
  reads,
  aggregates: loader,
  calendars: shiftCalendars,
  head: () => store.head(),
});

const run = (job: AnyJob, data: object): Promise<void> =>
  job.handle(data, {
    id: randomUUID(),
    attempt: 1,
    isLastAttempt: true,
    tenantId: undefined,
    correlationId: 'test',
    signal: new AbortController().signal,
  });

/** What the schedule does every 20 seconds. */
export async function sweepPages(app: TestApp): Promise<void> {
  await app.settled();
  const { database, jobs } = app.services;
  await run(findDuePages({ projector: database.projector, jobs: () => jobs }), {});
}

export interface DueStep {
  readonly tenantId: string;
  readonly alertId: string;
  readonly pageId: string;
  readonly step: number;
}

/** Runs the job of one step in a process, as a worker would. */
export const escalateIn = (services: Services, step: DueStep): Promise<void> =>
  run(escalatePageJob(portsOf(services)), step);

/** The types of the events about the pages of an alert, in order. */
export const pageLog = async ({ services }: TestApp, { tenantId }: TestTenant, alertId: string): Promise<string[]> =>
  (await services.store.readStream(alertPagesStream(tenantId, alertId))).map(({ type }) => type);
