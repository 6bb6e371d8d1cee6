import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { PASSWORD } from '../dsl/app.ts';
import { licenseKey, licensePublicKeyPem } from '../dsl/licenses.ts';
import { startService, type ServiceProcess } from './service-process.ts';

const KILLS = 6;
const CLIENTS = 6;
const KINDS = 4;

const dataDir = mkdtempSync('/var/tmp/castellan-retried-');
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const env = { LICENSE_PUBLIC_KEY: licensePublicKeyPem };

interface Creation {
  readonly key: string;
  readonly path: string;
  readonly body: object;
}

const post = (url: string, path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** Headers of a session with a fresh proof: administrators need one. */
type Proved = Readonly<Record<'authorization' | 'x-reauth-token', string>>;

const send = async ({ url }: ServiceProcess, owner: Proved, { key, path, body }: Creation) => {
  const answer = await post(url, path, body, { ...owner, 'idempotency-key': key });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};

/** Four kinds that differ: with a unique e-mail, with a secret as well, on a separate stream, and repeatable. */
const creations = (): Creation[] => {
  const email = `${randomUUID()}@acme.example`;
  return [
    { key: randomUUID(), path: '/api/v1/admin/users', body: { email, displayName: 'Somebody' } },
    {
      key: randomUUID(),
      path: '/api/v1/admin/admin-users',
      body: { email, displayName: 'Somebody', roleType: 'analyst' },
    },
    { key: randomUUID(), path: '/api/v1/admin/groups', body: { name: email } },
    { key: randomUUID(), path: '/api/v1/admin/enrollment/token', body: {} },
  ];
};

it(
  `completes a creation that one of ${KILLS} kills interrupted when it is retried under its key, and creates it once`,
  { timeout: 240_000 },
  async () => {
    const answered = new Map<string, Record<string, unknown>>();
    let tenantId = '';
    let cutOff: Creation[] = [];
    let retried = 0;
    for (let round = 0; round <= KILLS; round += 1) {
      const service = await startService(dataDir, env);
      const { url } = service;
      if (round === 0) {
        const owner = {
          email: 'first@acme.example',
          password: PASSWORD,
          displayName: 'First',
          licenseKey: licenseKey({ maxUsers: 1_000_000 }),
          externalBaseUrl: 'https://acme.example',
        };
        ({ tenantId } = (await (await post(url, '/api/v1/setup/complete', owner)).json()) as { tenantId: string });
      }
      const { accessToken: token } = (await (
        await post(url, '/api/v1/auth/login', { email: 'first@acme.example', password: PASSWORD, tenantId })
      ).json()) as { accessToken: string };
      const authorization = `Bearer ${token}`;
      const { reAuthToken } = (await (
        await post(url, '/api/v1/admin/verify-password', { password: PASSWORD }, { authorization })
      ).json()) as { reAuthToken: string };
      const proved = { authorization, 'x-reauth-token': reAuthToken };
      for (const creation of cutOff) {
        expect([creation.path, await send(service, proved, creation)]).toEqual([
          creation.path,
          { status: 201, body: expect.anything() },
        ]);
        retried += 1;
      }
      cutOff = [];
      if (round === KILLS) {
        await expectEachOnce(service, token, answered);
        await service.stop();
        break;
      }
      const client = async () => {
        for (;;) {
          for (const creation of creations()) {
            try {
              const { status, body } = await send(service, proved, creation);
              expect(status).toBe(201);
              answered.set(creation.key, body);
            } catch {
              cutOff.push(creation);
              return;
            }
          }
        }
      };
      const before = answered.size;
      const writing = Promise.all(Array.from({ length: CLIENTS }, client));
      // Every client has made one of each kind.
      while (answered.size < before + CLIENTS * KINDS) await pause(5);
      await pause(Math.random() * 250);
      await service.kill();
      await writing;
    }
    expect(retried).toBeGreaterThanOrEqual(KILLS);
  },
);

/** All have the e-mail of one creation: a duplicate would be two. */
async function expectEachOnce(
  { url }: ServiceProcess,
  token: string,
  answered: ReadonlyMap<string, Record<string, unknown>>,
): Promise<void> {
  const { adminUsers } = (await (
    await fetch(`${url}/api/v1/admin/admin-users`, { headers: { authorization: `Bearer ${token}` } })
  ).json()) as { adminUsers: { id: string; email: string }[] };
  expect(new Set(adminUsers.map(({ email }) => email)).size).toBe(adminUsers.length);
  const ids = new Set(adminUsers.map(({ id }) => id));
  for (const { id, temporaryPassword } of answered.values())
    if (temporaryPassword) expect(ids.has(id as string)).toBe(true);
  const { total } = (await (
    await fetch(`${url}/api/v1/admin/groups`, { headers: { authorization: `Bearer ${token}` } })
  ).json()) as { total: number };
  expect(total).toBeGreaterThan(0);
}
