import { Registry, collectDefaultMetrics } from 'prom-client';

/** The one Prometheus registry of the process. */
export const registry = new Registry();
// Under the names that prom-client gives them, which ready-made dashboards for Node expect.
collectDefaultMetrics({ register: registry });
// Gauges with the suffix of counters, which promtool refuses. The same figures exist by type, without the suffix.
for (const noun of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${noun}_total`);
