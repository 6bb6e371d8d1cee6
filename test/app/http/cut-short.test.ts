import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compose } from '../../../src/app/compose/compose.ts';
import { newLogger } from '../../../src/platform/observability/logger.ts';
import { appOf, PASSWORD, testConfig } from '../../dsl/app.ts';
import { cheapPasswords } from '../../dsl/cheap-passwords.ts';
import { freshDatabase, type FreshDatabase } from '../../dsl/database.ts';
import { modelsTemplate } from '../../dsl/models-template.ts';
import { newOrganization } from '../../dsl/organization.ts';
import { scratchFolder } from '../../dsl/scratch.ts';
import { login } from '../../dsl/second-factor.ts';

const DRAIN_MS = 1_000;

/** Sends 30 requests on connections of their own, creates a file, and prints how each response begins. */
const CLIENT = `
const net = require('node:net');
const [port, file] = process.argv.slice(1);
const ask = () => new Promise((resolve) => {
  const socket = net.connect(Number(port), '127.0.0.1', () => socket.write('GET /live HTTP/1.1\\r\\nhost: a\\r\\n\\r\\n', () => (sent += 1)));
  socket.once('data', (data) => resolve(data.toString().slice(0, 12)));
  socket.once('error', (error) => resolve(error.code));
  socket.once('close', () => resolve('closed'));
});
let sent = 0;
const all = Array.from({ length: 30 }, ask);
const timer = setInterval(() => {
  if (sent < all.length) return;
  clearInterval(timer);
  require('node:fs').writeFileSync(file, '');
}, 5);
Promise.all(all).then((each) => console.log(JSON.stringify(each)));
`;

describe('OP-221: a request that is still worked on when the drain time is over', () => {
  let database: FreshDatabase;
  let holder: pg.Client;
  beforeEach(async () => {
    database = await freshDatabase({ template: await modelsTemplate() });
    holder = new pg.Client(database.config);
    await holder.connect();
  });
  afterEach(async () => {
    await holder.end();
    await database.drop();
  });
  const rows = async (sql: string) => (await holder.query<Record<string, unknown>>(sql)).rows;

  const start = async () => {
    const application = await compose(testConfig(scratchFolder('cut-short'), { drainMs: DRAIN_MS }), {
      database: database.config,
      log: newLogger('silent'),
      passwords: cheapPasswords(),
    });
    const app = appOf(application);
    return { app, acme: await app.newTenant() };
  };

  it('gets 503, and what it uses up afterwards is given back before the process ends', async () => {
    const { app, acme } = await start();
    const { refreshToken } = (await login(app, acme, PASSWORD)).body as { refreshToken: string };
    await holder.query('begin');
    await holder.query('select from refresh_tokens for update');
    const refreshed = app.anonymous.post('/api/v1/auth/refresh', { refreshToken });
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    await expect.poll(() => rows(waiting)).toHaveLength(1);
    const closed = app.close();
    const { status, headers, body } = await refreshed;
    expect([status, headers.get('retry-after'), body.code]).toEqual([503, '2', 'service_unavailable']);
    await holder.query('rollback');
    await closed;
    expect(await rows('select response_lost from refresh_tokens where spent_at is not null')).toEqual([
      { response_lost: true },
    ]);
  });

  it("gets the proofs back that an organization's administrator used for it", async () => {
    const { app } = await start();
    const org = await newOrganization(app);
    const proofs = await Promise.all(Array.from({ length: 12 }, () => org.proof()));
    await holder.query('begin');
    await holder.query('lock table events in exclusive mode');
    const asked = proofs.map((proof, n) =>
      org.owner.post(
        '/api/v1/org/admins',
        { email: `a${n}@north.example`, displayName: 'A A', role: 'org_viewer' },
        { headers: { 'x-reauth-token': proof } },
      ),
    );
    await expect
      .poll(() => rows(`select from one_time_tokens where purpose = 'org-reauth' and tries_left = 0`))
      .toHaveLength(12);
    const closed = app.close();
    for (const { status } of await Promise.all(asked)) expect(status).toBe(503);
    await holder.query('rollback');
    await closed;
    expect(await rows(`select from one_time_tokens where purpose = 'org-reauth' and tries_left = 1`)).toHaveLength(12);
  });

  it('gets 503 also while its body is still being sent', async () => {
    const { app } = await start();
    const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('{')) });
    const sent = fetch(`${app.url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      duplex: 'half',
    } as RequestInit);
    await app.anonymous.get('/live');
    const closed = app.close();
    expect((await sent).status).toBe(503);
    await closed;
  });

  it('gets a response also if it had not been read when the stop began', async () => {
    const { app } = await start();
    const isSent = join(scratchFolder('cut-short-client'), 'sent');
    mkdirSync(dirname(isSent), { recursive: true });
    const client = promisify(execFile)(process.execPath, ['-e', CLIENT, new URL(app.url).port, isSent]);
    // Meanwhile the service accepts and reads nothing.
    const until = Date.now() + 30_000;
    while (!existsSync(isSent) && Date.now() < until);
    const closed = app.application.stop({ refuseMs: 250 });
    expect(JSON.parse((await client).stdout)).toEqual(Array.from({ length: 30 }, () => 'HTTP/1.1 503'));
    rmSync(dirname(isSent), { recursive: true });
    await closed;
  });
});
