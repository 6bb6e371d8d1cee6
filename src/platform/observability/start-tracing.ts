import { diag, DiagLogLevel } from '@opentelemetry/api';
import type { Logger } from 'pino';
import { version } from '../version.ts';

export interface Tracing {
  /** Sends what is left. */
  stop(): Promise<void>;
}

const WARN_EVERY_MS = 60_000;

/** True if the standard variables of OpenTelemetry name a receiver. */
export const isTracingWanted = (env: NodeJS.ProcessEnv): boolean =>
  env['OTEL_SDK_DISABLED']?.toLowerCase() !== 'true' &&
  Boolean(env['OTEL_EXPORTER_OTLP_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']);

/**
 * Exports spans by OTLP over HTTP. The standard variables configure it: `OTEL_EXPORTER_OTLP_*`, `OTEL_SERVICE_NAME`,
 * `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`, `OTEL_BSP_*`. Undefined if they name no receiver; then the
 * libraries are not loaded. A receiver that is away costs spans, and nothing else.
 */
export async function startTracing(env: NodeJS.ProcessEnv, log: Logger): Promise<Tracing | undefined> {
  if (!isTracingWanted(env)) return undefined;
  const [{ BatchSpanProcessor, NodeTracerProvider }, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  warnOfLostSpans(log);
  const named = resources.resourceFromAttributes({ 'service.name': 'castellan', 'service.version': version });
  const given = resources.detectResources({ detectors: [resources.envDetector] });
  const provider = new NodeTracerProvider({
    resource: resources.defaultResource().merge(named).merge(given),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  return { stop: () => provider.shutdown().catch(() => undefined) };
}

/** The exporter reports each failed batch. One warning a minute is enough, and without the receiver's words. */
function warnOfLostSpans(log: Logger): void {
  let warnedAt = -Infinity;
  const warn = (): void => {
    if (performance.now() - warnedAt < WARN_EVERY_MS) return;
    warnedAt = performance.now();
    log.warn({ module: 'tracing' }, 'spans could not be exported');
  };
  const ignore = (): void => undefined;
  diag.setLogger({ error: warn, warn: ignore, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.ERROR);
}
