import { Counter, Histogram } from 'prom-client';
import { registry } from '../../platform/observability/metrics.ts';
import type { AttemptOutcome } from './channel.ts';
import { channelNames, type ChannelName } from './domain/message.ts';

const attempts = new Counter({
  name: 'castellan_delivery_attempts_total',
  help: 'Attempts to send a message, by channel and outcome',
  labelNames: ['channel', 'outcome'] as const,
  registers: [registry],
});
const duration = new Histogram({
  name: 'castellan_delivery_attempt_seconds',
  help: 'Duration of attempts to send a message',
  labelNames: ['channel'] as const,
  buckets: [0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 20],
  registers: [registry],
});

const exhaustions = new Counter({
  name: 'castellan_delivery_exhausted_total',
  help: 'Messages that were tried for three days, by channel',
  labelNames: ['channel'] as const,
  registers: [registry],
});

// A series that begins at 1 has not increased: the first message would raise no alarm.
for (const channel of channelNames) exhaustions.labels(channel).inc(0);

export const countExhausted = (channel: ChannelName): void => exhaustions.labels(channel).inc();

export function countAttempt(channel: ChannelName, outcome: AttemptOutcome['kind'], seconds: number): void {
  attempts.labels(channel, outcome).inc();
  duration.labels(channel).observe(seconds);
}
