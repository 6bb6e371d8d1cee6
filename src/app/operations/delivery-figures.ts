import type pg from 'pg';
import { Gauge } from 'prom-client';
import { maintenanceQuery } from '../../platform/database/time-limits.ts';
import { channelNames, type ChannelName } from '../../contexts/notifications/domain/message.ts';
import { registry } from '../../platform/observability/metrics.ts';

const pending = new Gauge({
  name: 'castellan_deliveries_pending',
  help: 'Messages that are still to be sent, or sent again, by channel',
  labelNames: ['channel'] as const,
  registers: [registry],
});
const exhausted = new Gauge({
  name: 'castellan_deliveries_exhausted',
  help: 'Messages of the last seven days that were tried for three days, by channel',
  labelNames: ['channel'] as const,
  registers: [registry],
});
const oldestDue = new Gauge({
  name: 'castellan_delivery_oldest_due_seconds',
  help: 'Seconds for which the oldest due message has waited for its attempt; 0 if none is due',
  registers: [registry],
});

const TIME_LIMIT_MS = 5_000;
const FIGURES = `
  select channel,
         count(*) filter (where next_attempt_at is not null)::int as pending,
         count(*) filter (where state = 'exhausted')::int as exhausted,
         coalesce(extract(epoch from now() - min(next_attempt_at) filter (where held_until is null)), 0)::float8 as late
    from deliveries
   where next_attempt_at is not null or (state = 'exhausted' and planned_at > now() - interval '7 days')
   group by channel`;

interface Figures {
  readonly channel: ChannelName;
  readonly pending: number;
  readonly exhausted: number;
  readonly late: number;
}

/** Updates what the outbox still has to send; called on every scrape. */
export const deliveryFigures = (projector: pg.Pool) => async (): Promise<void> => {
  const { rows } = await maintenanceQuery<Figures>(projector, TIME_LIMIT_MS, FIGURES);
  for (const channel of channelNames) {
    const found = rows.find((row) => row.channel === channel);
    pending.labels(channel).set(found?.pending ?? 0);
    exhausted.labels(channel).set(found?.exhausted ?? 0);
  }
  oldestDue.set(Math.max(0, ...rows.map(({ late }) => late)));
};
