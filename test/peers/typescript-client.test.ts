import { execFile } from 'node:child_process';
import { cpSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, type TestTenant } from '../dsl/app.ts';
import { enrolledDevice } from '../dsl/enrolled-device.ts';
import { packagesOf } from '../dsl/installed-packages.ts';

const EXAMPLE = 'examples/typescript-client';
const place = packagesOf(EXAMPLE);

/** What a program of the example prints. Fails with everything that it printed. */
async function printed(program: string, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const options = { cwd: place!, env: { ...process.env, ...env } };
  try {
    return (await promisify(execFile)(path.join(place!, 'node_modules/.bin', program), args, options)).stdout;
  } catch (failed) {
    const { stdout, stderr } = failed as { stdout: string; stderr: string };
    throw new Error(`${program}: ${stdout}${stderr}`, { cause: failed });
  }
}

describe.skipIf(!place)('the example of a generated client', () => {
  let app: TestApp;
  let tenant: TestTenant;
  beforeAll(async () => {
    app = await startApp();
    tenant = await app.newTenant();
    const { client } = await enrolledDevice(app, tenant);
    const events = ['one', 'two', 'three'].map((name) => ({
      eventId: randomUUID(),
      kind: 'credential_attempt',
      occurredAt: new Date().toISOString(),
      domain: `${name}.example.com`,
      data: { username: 'jo', passwordHash: '0'.repeat(64), isBreached: true, action: 'warn' },
    }));
    await client.post('/api/v1/ext/events', { events });
    client.close();
    await app.settled();
  });
  afterAll(() => app.close());

  it('compiles against the running service, and pages, resolves and changes with If-Match', async () => {
    const source = fileURLToPath(new URL(`../../${EXAMPLE}/`, import.meta.url));
    for (const name of ['src', 'tsconfig.json'])
      cpSync(path.join(source, name), path.join(place!, name), { recursive: true });
    const types = ['--default-non-nullable', 'false', '--output', 'src/generated/api.ts'];
    await printed('openapi-typescript', [`${app.url}/openapi.json`, ...types]);
    expect(await printed('tsc', ['--noEmit'])).toBe('');

    const { body } = await tenant.admin.get('/api/v1/admin/alerts?status=open');
    expect(body.total).toBeGreaterThan(2);
    const credentials = { CASTELLAN_URL: app.url, CASTELLAN_TOKEN: tenant.token };
    const lines = (await printed('tsx', ['src/triage.ts'], credentials)).trim().split('\n');
    expect(lines).toEqual([
      `open alerts: ${body.total}`,
      expect.stringMatching(/: resolved$/),
      'changed: From the example',
      'the second change with the same tag: 412 changed_meanwhile',
    ]);
  });
});
