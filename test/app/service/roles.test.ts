import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type ServiceProcess } from '../../crash/service-process.ts';
import { PASSWORD } from '../../dsl/app.ts';
import { freshDatabase, type FreshDatabase } from '../../dsl/database.ts';
import { licenseKey, licensePublicKeyPem } from '../../dsl/licenses.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

type Role = 'api' | 'projector' | 'worker';

describe('a service in several processes', () => {
  const dataDir = scratchFolder('roles');
  const running: ServiceProcess[] = [];
  let database: FreshDatabase;
  let env: Record<string, string>;
  let nodes: Record<Role, ServiceProcess> & { second: ServiceProcess };
  let authorization = '';
  let tenantId: string;

  const start = async (role: Role) => {
    const service = await startService(dataDir, env, ['--role', role]);
    running.push(service);
    return service;
  };
  const post = (node: ServiceProcess, path: string, body: object) =>
    fetch(`${node.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(authorization ? { authorization } : {}) },
      body: JSON.stringify(body),
    });
  const get = (node: ServiceProcess, path: string, headers: Record<string, string> = {}) =>
    fetch(`${node.url}${path}`, { headers: { authorization, ...headers } });
  const emails = async (answer: Response) =>
    ((await answer.json()) as { users: { email: string }[] }).users.map(({ email }) => email);

  beforeAll(async () => {
    database = await freshDatabase();
    const { host, port, user, password, database: name } = database.config;
    const keys = ['MASTER_KEY', 'AUDIT_HMAC_KEY'].map((key) => [key, randomBytes(32).toString('hex')]);
    env = {
      DATABASE_URL: `postgresql://${user}:${encodeURIComponent(String(password ?? ''))}@/${name}?host=${encodeURIComponent(host!)}&port=${port}`,
      LICENSE_PUBLIC_KEY: licensePublicKeyPem,
      ...Object.fromEntries(keys),
    };
    // The first one migrates; the others start one by one, as an orchestrator would roll them out.
    const projector = await start('projector');
    const [api, second, worker] = await Promise.all([start('api'), start('api'), start('worker')]);
    nodes = { projector, api, second, worker };
    const setup = await post(api, '/api/v1/setup/complete', {
      email: 'first@acme.example',
      password: PASSWORD,
      displayName: 'First',
      licenseKey: licenseKey(),
      externalBaseUrl: 'https://acme.example',
    });
    expect(setup.status).toBe(201);
    const answer = (await setup.json()) as { accessToken: string; tenantId: string };
    tenantId = answer.tenantId;
    authorization = `Bearer ${answer.accessToken}`;
  }, 60_000);
  afterAll(async () => {
    await Promise.all(running.map((service) => service.stop()));
    await database.drop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('shows what one process wrote and another projected to the writer, and by its position to every other node', async () => {
    for (let n = 0; n < 5; n += 1) {
      const written = await post(nodes.api, '/api/v1/admin/users', { email: `e${n}@acme.example`, displayName: 'E' });
      expect([written.status, written.headers.get('x-stale')]).toEqual([201, null]);
      expect(await emails(await get(nodes.api, '/api/v1/admin/users'))).toContain(`e${n}@acme.example`);
      const position = { 'x-log-position': written.headers.get('x-log-position')! };
      expect(await emails(await get(nodes.second, '/api/v1/admin/users', position))).toContain(`e${n}@acme.example`);
    }
  });

  it('ends a session on every node at once', async () => {
    const login = await post(nodes.api, '/api/v1/auth/login', {
      email: 'first@acme.example',
      password: PASSWORD,
      tenantId,
    });
    const { accessToken } = (await login.json()) as { accessToken: string };
    const other = { authorization: `Bearer ${accessToken}` };
    expect((await fetch(`${nodes.second.url}/api/v1/admin/me`, { headers: other })).status).toBe(200);
    expect((await fetch(`${nodes.api.url}/api/v1/auth/logout`, { method: 'POST', headers: other })).status).toBe(200);
    const deadline = Date.now() + 900;
    let status = 200;
    while (status !== 401 && Date.now() < deadline)
      status = (await fetch(`${nodes.second.url}/api/v1/admin/me`, { headers: other })).status;
    expect(status).toBe(401);
  });

  it('reports that no process projects, loses nothing, and continues when one does again', async () => {
    await nodes.projector.stop();
    running.splice(running.indexOf(nodes.projector), 1);
    const written = await post(nodes.api, '/api/v1/admin/users', { email: 'late@acme.example', displayName: 'Late' });
    expect([written.status, written.headers.get('x-stale'), await written.json()]).toEqual([
      201,
      'true',
      expect.objectContaining({ email: 'late@acme.example', displayName: 'Late' }),
    ]);
    const probed = async (path: string) => {
      const response = await get(nodes.second, path);
      return [response.status, (await response.json()) as { status: string; dependencies?: object }] as const;
    };
    // Behind for more than some seconds: said, and no reason to take every node out of traffic.
    await expect
      .poll(() => probed('/ready'), { timeout: 20_000 })
      .toEqual([200, { status: 'degraded', ready: true, lagging: expect.arrayContaining(['employees']) as string[] }]);
    expect(await probed('/health')).toMatchObject([
      200,
      {
        dependencies: {
          projections: { status: 'degraded', message: expect.stringContaining('behind the log') as string },
        },
      },
    ]);
    nodes.projector = await start('projector');
    const position = { 'x-log-position': written.headers.get('x-log-position')! };
    let seen: string[] = [];
    for (const deadline = Date.now() + 10_000; !seen.includes('late@acme.example') && Date.now() < deadline;) {
      seen = await emails(await get(nodes.second, '/api/v1/admin/users', position));
    }
    expect(seen).toContain('late@acme.example');
  });
});
