import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { PASSWORD } from '../dsl/app.ts';
import { licenseKey, licensePublicKeyPem } from '../dsl/licenses.ts';
import { updatePublisher, uploadBundle } from '../dsl/update-publisher.ts';
import { startService } from './service-process.ts';

const dataDir = mkdtempSync('/var/tmp/castellan-update-');
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const COMMAND_SECONDS = 2;
/** The command's time, and the 15 seconds after which its outcome is given up. */
const GIVEN_UP_MS = (COMMAND_SECONDS + 16) * 1_000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const json = { 'content-type': 'application/json' };

it(
  'records an update as failed after a kill -9 while its command runs, does not repeat it, and takes the next one',
  { timeout: 180_000 },
  async () => {
    const publisher = updatePublisher();
    const runs = join(dataDir, 'runs');
    const script = join(dataDir, 'update.sh');
    // Writes again after the kill: it must not die with the service that it may be replacing.
    writeFileSync(script, `#!/bin/sh\necho begun >> ${runs}\nsleep 4\necho output\necho ended >> ${runs}\n`);
    chmodSync(script, 0o755);
    const env = {
      LICENSE_PUBLIC_KEY: licensePublicKeyPem,
      UPDATE_PUBLIC_KEY: publisher.publicKey,
      UPDATE_COMMAND: script,
      UPDATE_COMMAND_SECONDS: String(COMMAND_SECONDS),
    };
    const first = await startService(dataDir, env);
    const owner = {
      email: 'first@acme.example',
      password: PASSWORD,
      displayName: 'First',
      licenseKey: licenseKey({}),
      externalBaseUrl: 'https://acme.example',
    };
    const post = (url: string, path: string, body: object, headers: Record<string, string> = {}) =>
      fetch(url + path, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) });
    const { tenantId } = (await (await post(first.url, '/api/v1/setup/complete', owner)).json()) as {
      tenantId: string;
    };
    const credentials = { email: owner.email, password: PASSWORD, tenantId };
    const { accessToken } = (await (await post(first.url, '/api/v1/auth/login', credentials)).json()) as {
      accessToken: string;
    };
    const authorization = { authorization: `Bearer ${accessToken}` };
    const upload = async (url: string, version: string) => {
      const content = randomBytes(1_000);
      const signature = publisher.signature(version, content);
      expect((await uploadBundle({ url }, accessToken, content, { version, signature })).status).toBe(201);
      expect((await post(url, '/api/v1/admin/updates/apply', {}, authorization)).status).toBe(202);
    };
    await upload(first.url, '99.0.0');
    while (!existsSync(runs)) await pause(20);
    await first.kill();
    await pause(GIVEN_UP_MS);

    const second = await startService(dataDir, env);
    const last = async () => {
      const response = await fetch(`${second.url}/api/v1/admin/updates/history`, { headers: authorization });
      return ((await response.json()) as { history: Record<string, unknown>[] }).history[0]!;
    };
    while ((await last())['status'] === 'applying') await pause(100);
    expect(await last()).toMatchObject({
      toVersion: '99.0.0',
      status: 'failed',
      exitCode: null,
      reason: 'the process ended before the command, and its outcome is unknown',
    });
    expect(readFileSync(runs, 'utf8')).toBe('begun\nended\n');
    rmSync(runs);
    await upload(second.url, '99.1.0');
    while ((await last())['status'] === 'applying') await pause(100);
    expect(await last()).toMatchObject({ toVersion: '99.1.0', reason: 'the command did not end in time' });
    await second.stop();
  },
);
