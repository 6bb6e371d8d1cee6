import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../dsl/app.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.close());

it('a read-only database degrades the service, which goes on reading and says 503 to changes', async () => {
  const { admin } = await app.newTenant();
  const { owner, config } = app.services.database;
  const set = async (mode: 'on' | 'off') => {
    await owner.query(`alter database "${config.database}" set default_transaction_read_only = ${mode}`);
    // Settings of a database count for new connections.
    await owner.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
    );
  };
  await set('on');
  await expect
    .poll(() => app.anonymous.get('/health'), { timeout: 20_000 })
    .toMatchObject({
      status: 200,
      body: {
        dependencies: {
          postgres: { status: 'degraded', message: 'the database is read-only: nothing can be changed' },
        },
      },
    });
  const change = () => admin.post('/api/v1/admin/groups', { name: 'Nobody' });
  await expect.poll(async () => (await change()).status, { timeout: 20_000 }).toBe(503);
  expect((await admin.get('/api/v1/admin/me')).status).toBe(200);
  await owner.query('set default_transaction_read_only = off');
  await set('off');
  await expect.poll(async () => (await change()).status, { timeout: 20_000 }).toBe(201);
}, 60_000);
