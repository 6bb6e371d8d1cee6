import { Registry, collectDefaultMetrics } from 'prom-client';

/** The one Prometheus registry of the process. */
export const registry = new Registry();
collectDefaultMetrics({ register: registry, prefix: 'castellan_' });
// Gauges with the suffix of counters, which promtool refuses. The same figures exist by type, without the suffix.
for (const noun of ['handles', 'requests', 'resources'])
  registry.removeSingleMetric(`castellan_nodejs_active_${noun}_total`);
