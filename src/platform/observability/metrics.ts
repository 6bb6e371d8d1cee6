import { Registry, collectDefaultMetrics } from 'prom-client';

/** The one Prometheus registry of the process. */
export const registry = new Registry();
collectDefaultMetrics({ register: registry, prefix: 'castellan_' });
