import { Counter } from 'prom-client';
import type { AppendOutcome } from '../../platform/eventstore/counted-appends.ts';
import { registry } from '../../platform/observability/metrics.ts';

const LABELS: Readonly<Record<AppendOutcome, string>> = {
  appended: 'appended',
  wrongRevision: 'wrong_revision',
  claimed: 'claimed',
  unknown: 'unknown',
};

const appends = new Counter({
  name: 'castellan_event_store_appends_total',
  help: 'Appends to the event store, by outcome: a wrong revision is decided again, a claimed value belongs to another',
  labelNames: ['outcome'] as const,
  registers: [registry],
});

export const countAppend = (outcome: AppendOutcome): void => appends.labels(LABELS[outcome]).inc();
