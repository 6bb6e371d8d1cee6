import { Gauge } from 'prom-client';
import type { LogTrust } from '../../platform/eventstore/log-trust.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import { MISMATCHES } from '../../platform/eventstore/log-trust.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import type { Limits } from '../config/limits.ts';
import { registry } from '../../platform/observability/metrics.ts';
import type { Projector } from '../../platform/projector/projector.ts';

const lagEvents = new Gauge({
  name: 'castellan_projection_lag_events',
  help: 'Events of the log that a read model has not processed yet',
  labelNames: ['model'] as const,
  registers: [registry],
});
const lagSeconds = new Gauge({
  name: 'castellan_projection_lag_seconds',
  help: 'Seconds since a lagging read model last moved',
  labelNames: ['model'] as const,
  registers: [registry],
});
const parked = new Gauge({
  name: 'castellan_parked_streams',
  help: 'Streams that a read model or reaction has parked until an operator retries or skips them',
  labelNames: ['model'] as const,
  registers: [registry],
});
const behind = new Gauge({
  name: 'castellan_reaction_tenants_behind',
  help: 'Tenants whose events a reaction processes as a backlog of their own',
  labelNames: ['reaction'] as const,
  registers: [registry],
});
const jobCount = new Gauge({
  name: 'castellan_jobs',
  help: 'Background jobs by state',
  labelNames: ['state'] as const,
  registers: [registry],
});
const head = new Gauge({
  name: 'castellan_feed_position',
  help: 'Position of the newest event in the log',
  registers: [registry],
});

const trusted = new Gauge({
  name: 'castellan_event_log_trusted',
  help: '1 while the event log matches tables and keys; 0 while it is being checked or does not match',
  registers: [registry],
});
const mismatch = new Gauge({
  name: 'castellan_event_log_mismatch',
  help: '1 for the kind of mismatch between event log, tables and keys, if any',
  labelNames: ['kind'] as const,
  registers: [registry],
});
const share = new Gauge({
  name: 'castellan_tenant_share',
  help: 'Requests that each tenant may run at once while short requests have to wait; below 1: one, with a pause after each',
  registers: [registry],
});
const awaitingTurn = new Gauge({
  name: 'castellan_requests_awaiting_turn',
  help: 'Requests that wait for a slot of their tenant',
  registers: [registry],
});

/** Updates the gauges; called on every scrape. */
export const serviceMetrics =
  (store: EventStore, trust: LogTrust, projector: Projector, jobs: Jobs, { tenants }: Pick<Limits, 'tenants'>) =>
  async (): Promise<void> => {
    share.set(tenants.share);
    awaitingTurn.set(tenants.waiting);
    trusted.set(trust.holds ? 1 : 0);
    const { doubt } = trust;
    for (const kind of MISMATCHES)
      mismatch.labels(kind).set(doubt?.kind === 'contradicted' && doubt.mismatch === kind ? 1 : 0);
    const end = await store.head();
    head.set(Number(end));
    for (const [state, count] of Object.entries(await jobs.counts())) jobCount.labels(state).set(count);
    parked.reset();
    for (const [name, streams] of await projector.deadLetters.counts()) parked.labels(name).set(streams);
    behind.reset();
    for (const [name, count] of await projector.backlogs.counts()) behind.labels(name).set(count);
    for (const { name, state, position, idleSeconds } of await projector.progress()) {
      if (state === 'retired') continue;
      const missing = Number(end - position);
      lagEvents.labels(name).set(Math.max(0, missing));
      lagSeconds.labels(name).set(missing > 0 ? idleSeconds : 0);
    }
  };
