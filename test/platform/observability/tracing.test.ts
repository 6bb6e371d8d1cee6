import { createServer, type Server } from 'node:http';
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { context, diag, propagation, trace } from '@opentelemetry/api';
import pino from 'pino';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { startTracing, type Tracing } from '../../../src/platform/observability/start-tracing.ts';
import { startApp } from '../../dsl/app.ts';

interface Exported {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}
interface Message {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { key: string; value: { stringValue?: string } }[] };
    readonly scopeSpans: readonly { readonly spans: readonly Exported[] }[];
  }[];
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

/** A receiver of OTLP over HTTP in JSON. */
async function collector(): Promise<{ server: Server; url: string; messages: Message[] }> {
  const messages: Message[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      messages.push(JSON.parse(Buffer.concat(parts).toString()) as Message);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, messages };
}

describe('tracing', () => {
  let tracing: Tracing | undefined;
  afterEach(async () => {
    await tracing?.stop();
    vi.unstubAllEnvs();
  });
  // The tracer of the code under test stays with the provider that is registered first.
  afterAll(() => {
    trace.disable();
    context.disable();
    propagation.disable();
    diag.disable();
  });

  it.each([{}, { OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }])(
    'is off with %j',
    async (env) => {
      expect(await startTracing(env, pino({ level: 'silent' }))).toBeUndefined();
    },
  );

  it('exports a request, its queries and its commands as one trace of the caller', async () => {
    const { server, url, messages } = await collector();
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', url);
    vi.stubEnv('OTEL_SERVICE_NAME', 'castellan-test');
    tracing = await startTracing(process.env, pino({ level: 'silent' }));
    const app = await startApp();
    const acme = await app.newTenant();
    const traceparent = `00-${TRACE}-${PARENT}-01`;
    const name = `private ${randomUUID()}`;
    await acme.admin.post('/api/v1/admin/groups', { name }, { headers: { traceparent } });
    await app.close();
    await tracing!.stop();
    server.close();

    const spans = messages.flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
    );
    const ofTrace = spans.filter(({ traceId }) => traceId === TRACE);
    const request = ofTrace.find(({ parentSpanId }) => parentSpanId === PARENT);
    expect(request?.name).toBe('POST /api/v1/admin/groups');
    expect(ofTrace.find((span) => span.name === 'CreateGroup')?.parentSpanId).toBe(request!.spanId);
    const { attributes } = messages[0]!.resourceSpans[0]!.resource;
    expect(attributes.find(({ key }) => key === 'service.name')?.value.stringValue).toBe('castellan-test');
    expect(JSON.stringify(messages)).not.toContain(name);
  });

  it('goes on without a receiver, and says so once', async () => {
    const warnings: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) });
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:1');
    tracing = await startTracing(process.env, log);
    diag.error('one');
    diag.error('two');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('spans could not be exported');
  });
});
