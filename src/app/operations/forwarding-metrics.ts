import { Gauge } from 'prom-client';
import type { StreamLag } from '../../contexts/log-destinations/forwarding/running-streams.ts';
import { registry } from '../../platform/observability/metrics.ts';

/** Destinations with a series of their own: those that are furthest behind. */
const MAX_SERIES = 20;

const lagEvents = new Gauge({
  name: 'castellan_log_destination_lag_events',
  help: `Events that wait for a log destination; only the ${MAX_SERIES} destinations that are furthest behind`,
  labelNames: ['tenant', 'destination'] as const,
  registers: [registry],
});
const lagSeconds = new Gauge({
  name: 'castellan_log_destination_lag_seconds',
  help: `Seconds since the oldest event that waits for a log destination was recorded; only the ${MAX_SERIES} destinations that are furthest behind`,
  labelNames: ['tenant', 'destination'] as const,
  registers: [registry],
});
const destinations = new Gauge({
  name: 'castellan_log_destinations',
  help: 'Enabled log destinations by the outcome of their last delivery; only in the process that forwards',
  labelNames: ['state'] as const,
  registers: [registry],
});

/** Updates the gauges of the process that forwards; called on every scrape. The number of series is bounded. */
export const forwardingMetrics = (lagsOf: () => readonly StreamLag[] | undefined) => async (): Promise<void> => {
  lagEvents.reset();
  lagSeconds.reset();
  destinations.reset();
  const lags = lagsOf();
  if (!lags) return;
  const failing = lags.filter(({ isFailing }) => isFailing).length;
  destinations.labels('failing').set(failing);
  destinations.labels('working').set(lags.length - failing);
  const behind = lags.filter(({ events }) => events > 0).sort((one, other) => other.seconds - one.seconds);
  for (const { tenantId, destinationId, events, seconds } of behind.slice(0, MAX_SERIES)) {
    lagEvents.labels(tenantId, destinationId).set(events);
    lagSeconds.labels(tenantId, destinationId).set(seconds);
  }
};
