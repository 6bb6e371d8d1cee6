import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { startStandIn, type StandIn } from '../../../fixtures/eventstoredb/stand-in.ts';

const USERS = '/api/v1/admin/users';
const SEATS = 200;
const CALLERS = 32;

interface Fixture {
  readonly app: TestApp;
  readonly node?: StandIn;
}

const onPostgres = async (): Promise<Fixture> => ({ app: await startApp() });
const onEventStoreDb = async (): Promise<Fixture> => {
  const node = await startStandIn();
  return { node, app: await startApp({ eventStoreUrl: node.connectionString }) };
};

describe.each([
  ['PostgreSQL', onPostgres],
  ['EventStoreDB', onEventStoreDb],
])('a used-up license, on %s', { timeout: 60_000 }, (_, open) => {
  let app: TestApp;
  let node: StandIn | undefined;
  let tenant: TestTenant;
  beforeAll(async () => {
    ({ app, node } = await open());
    tenant = await app.newTenant({ license: { maxUsers: SEATS } });
    const users = new Blob([
      'email,displayName\r\n',
      ...Array.from({ length: SEATS }, () => `${randomUUID()}@acme.example,Ada\r\n`),
    ]);
    let imported: Response;
    do {
      const form = new FormData();
      form.append('file', users, 'users.csv');
      imported = await fetch(`${app.url}${USERS}/import`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tenant.token}` },
        body: form,
      });
      // A busy machine may interrupt the import.
    } while (imported.status === 503);
    await app.settled();
    expect(await total()).toBe(SEATS);
  }, 120_000);
  afterAll(async () => {
    await app.close();
    await node?.stop();
  });

  const create = () => tenant.admin.post(USERS, { email: `${randomUUID()}@acme.example`, displayName: 'Ada' });
  /** A busy machine has 503, and nothing created, for those that would wait too long. Clients then try again. */
  const createPatiently = async (): Promise<number> => {
    const { status } = await create();
    return status === 503 ? createPatiently() : status;
  };
  const createMany = () => Promise.all(Array.from({ length: CALLERS }, createPatiently));
  const anyone = async () => (await tenant.admin.get(`${USERS}?page_size=1`)).body.users[0].id as string;
  const total = async () => (await tenant.admin.get(`${USERS}?page_size=1`)).body.total as number;

  it('refuses each of many concurrent creations', async () => {
    expect(await createMany()).toEqual(Array(CALLERS).fill(403));
  });

  it('refuses them with a few reads of the store, not with some for each seat', async () => {
    const before = node?.calls.length ?? 0;
    await createMany();
    // The tenant, the e-mail and the head of the log for each; the seats for none.
    expect((node?.calls.length ?? 0) - before).toBeLessThan(8 * CALLERS);
  });

  it('gives a released seat to exactly one of many concurrent requests', async () => {
    for (let round = 0; round < 3; round += 1) {
      await tenant.admin.delete(`${USERS}/${await anyone()}`);
      const statuses = await createMany();
      expect(statuses.sort()).toEqual([201, ...Array<number>(CALLERS - 1).fill(403)]);
      await app.settled();
      expect(await total()).toBe(SEATS);
    }
  });

  it('finds a released seat at once, every time', async () => {
    for (let round = 0; round < 10; round += 1) {
      expect((await tenant.admin.delete(`${USERS}/${await anyone()}`)).status).toBe(204);
      expect((await create()).status).toBe(201);
      expect((await create()).status).toBe(403);
    }
  });

  it('reports a duplicate as such, and not as a used-up license', async () => {
    const { email } = (await tenant.admin.get(`${USERS}?page_size=1`)).body.users[0];
    expect((await tenant.admin.post(USERS, { email, displayName: 'Ada' })).status).toBe(409);
  });

  it('is as exact while projections are paused', async () => {
    const leaver = await anyone();
    await app.services.projector.stop();
    expect((await createMany()).every((status) => status === 403)).toBe(true);
    expect((await tenant.admin.delete(`${USERS}/${leaver}`)).status).toBe(204);
    // The projector is paused: the employee exists, and the response says that it is not shown yet.
    expect((await createMany()).sort()).toEqual([
      expect.toBeOneOf([201, 202]),
      ...Array<number>(CALLERS - 1).fill(403),
    ]);
  });
});
