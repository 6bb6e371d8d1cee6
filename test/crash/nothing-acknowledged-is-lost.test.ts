import { mkdtempSync, rmSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { compose } from '../../src/app/compose/compose.ts';
import { newLogger } from '../../src/platform/observability/logger.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { PASSWORD } from '../dsl/app.ts';
import { foldedTables } from '../dsl/folded-tables.ts';
import { licenseKey, licensePublicKeyPem } from '../dsl/licenses.ts';
import { startService, type ServiceProcess } from './service-process.ts';
import { rounds } from '../faults/harness/rounds.ts';

const KILLS = rounds(6);
const CLIENTS = 6;

const dataDir = mkdtempSync('/var/tmp/castellan-crash-');
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const env = { LICENSE_PUBLIC_KEY: licensePublicKeyPem };

/** Writes as fast as it gets responses, and keeps what was acknowledged, until the service is gone. */
async function writeUntilItDies(
  { url }: ServiceProcess,
  token: string,
  round: number,
  acknowledged: string[],
): Promise<void> {
  const client = async (n: number) => {
    for (let count = 0; ; count += 1) {
      const email = `r${round}.c${n}.${count}@acme.example`;
      try {
        const answer = await fetch(`${url}/api/v1/admin/users`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ email, displayName: 'Somebody' }),
        });
        if (answer.status === 201) acknowledged.push(((await answer.json()) as { id: string }).id);
        else await answer.text();
      } catch {
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, n) => client(n)));
}

const signIn = async (url: string, tenantId: string) => {
  const answer = await fetch(`${url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'first@acme.example', password: PASSWORD, tenantId }),
  });
  return ((await answer.json()) as { accessToken: string }).accessToken;
};

it(
  `survives ${KILLS} kills under write load with every acknowledged event once, in order, and tables equal to a rebuild`,
  { timeout: 240_000 },
  async () => {
    const acknowledged: string[] = [];
    let tenantId = '';
    for (let round = 0; round < KILLS; round += 1) {
      const service = await startService(dataDir, env);
      if (round === 0) {
        const setup = await fetch(`${service.url}/api/v1/setup/complete`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            email: 'first@acme.example',
            password: PASSWORD,
            displayName: 'First',
            licenseKey: licenseKey({ maxUsers: 10_000_000 }),
            externalBaseUrl: 'https://acme.example',
          }),
        });
        ({ tenantId } = (await setup.json()) as { tenantId: string });
      }
      const token = await signIn(service.url, tenantId);
      const before = acknowledged.length;
      const writing = writeUntilItDies(service, token, round, acknowledged);
      while (acknowledged.length === before) await pause(5);
      await pause(Math.random() * 250);
      await service.kill();
      await writing;
    }
    await expectWholeHistory(acknowledged);
  },
);

async function expectWholeHistory(acknowledged: readonly string[]): Promise<void> {
  const application = await compose(readConfig({ ...env, DATA_DIR: dataDir, LOG_LEVEL: 'silent' }), {
    listen: false,
    log: newLogger('silent'),
  });
  const { services } = application;
  try {
    const created = new Map<string, number>();
    let last = 0n;
    for (;;) {
      const { events, position } = await services.store.readAll(last, 5_000);
      if (position === last) break;
      for (const event of events) {
        expect(event.position).toBe(++last);
        if (event.type !== 'EmployeeCreated') continue;
        const { userId } = event.data as { userId: string };
        created.set(userId, (created.get(userId) ?? 0) + 1);
      }
    }
    expect(acknowledged.filter((id) => created.get(id) !== 1)).toEqual([]);
    await services.freshness.waitFor(services.mainModels, last, 20_000);
    expect((await foldedTables(services)).differences).toEqual([]);
  } finally {
    await application.stop();
  }
}
