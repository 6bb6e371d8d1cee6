import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { scratchFolder } from '../../dsl/scratch.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The libraries of OpenTelemetry find each other, and what they load later, in a bundle, too. */
describe('a bundled program with a receiver of spans', () => {
  const folder = scratchFolder('spans');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('sends its spans there, and says nothing else', async () => {
    const received: string[] = [];
    const receiver = createServer((request, response) => {
      received.push(`${request.method} ${request.url}`);
      request.resume().on('end', () => response.end('{}'));
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    writeFileSync(
      path.join(folder, 'entry.ts'),
      `import { trace } from '@opentelemetry/api';
       import { startTracing } from '${ROOT}src/platform/observability/start-tracing.ts';
       import { newLogger } from '${ROOT}src/platform/observability/logger.ts';
       void startTracing(process.env, newLogger('warn')).then(async (tracing) => {
         trace.getTracer('of the test').startSpan('work').end();
         await tracing!.stop();
         console.log('stopped');
       });`,
    );
    const program = spawn(process.execPath, [path.join(ROOT, 'scripts/run.mjs'), path.join(folder, 'entry.ts')], {
      env: {
        ...process.env,
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`,
      },
    });
    let output = '';
    for (const stream of [program.stdout, program.stderr]) stream.on('data', (part) => (output += String(part)));
    await once(program, 'close');
    receiver.close();
    expect(output).toBe('stopped\n');
    expect(received).toEqual(['POST /v1/traces']);
  });
});
