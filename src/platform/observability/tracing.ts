import { context, isSpanContextValid, SpanStatusCode, trace, type Attributes, type Span } from '@opentelemetry/api';

/**
 * The OpenTelemetry interface. Unless `startTracing` has registered an exporter, all of it does nothing. Names and
 * attributes of spans hold no personal data and no secrets: templates instead of addresses, ids instead of names.
 */
export const tracer = trace.getTracer('castellan');

/** Runs `work` in a span, which ends with it. Without tracing, only runs it. */
export function inSpan<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  const span = tracer.startSpan(name, { attributes });
  // A span that is not sampled has a valid context, which its children need in order not to be sampled either.
  return isSpanContextValid(span.spanContext())
    ? context.with(trace.setSpan(context.active(), span), () => ended(span, work))
    : work();
}

async function ended<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // The class only: messages may name people.
    span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'error' });
    throw error;
  } finally {
    span.end();
  }
}
