import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type Client, type TestApp, type TestResponse } from '../../../dsl/app.ts';
import {
  ERROR_SCHEMA,
  GROUP_SCHEMA,
  newScimClient,
  patchBody,
  SCIM_GROUPS,
  SCIM_USERS,
  scimAs,
  USER_SCHEMA,
} from '../../../dsl/scim.ts';

/** An identity provider sends no position with its next read: it has to find what it wrote. */
describe('OP-577: while the read models are late', () => {
  let app: TestApp;
  let scim: Client;
  beforeAll(async () => {
    app = await startApp();
    scim = await scimAs(app, await newScimClient(await app.newTenant()));
  });
  afterAll(() => app.close());

  const user = (userName: string) => ({ schemas: [USER_SCHEMA], userName, active: true });

  /** Nothing can be written into the read model until `work` ends. Longer than other callers wait. */
  async function held<T>(table: string, work: (release: () => Promise<void>) => Promise<T>): Promise<T> {
    const { rows } = await app.services.database.owner.query<{ name: string }>(
      `select c.relname as name from pg_class c where c.relkind = 'r' and c.relname ~ $1`,
      [`^${table}_v\\d+$`],
    );
    const client = await app.services.database.owner.connect();
    await client.query('begin');
    await client.query(`lock table ${rows.map(({ name }) => name).join(', ')} in exclusive mode`);
    let isHeld = true;
    const release = async () => {
      if (isHeld) await client.query('rollback');
      isHeld = false;
    };
    try {
      return await work(release);
    } finally {
      await release();
      client.release();
    }
  }
  /** Sends while the table is held, for longer than others wait; the response comes after that. */
  const sentWhileHeld = (table: string, send: () => Promise<TestResponse>) =>
    held(table, async (release) => {
      let isAnswered = false;
      const late = send().finally(() => (isAnswered = true));
      await sleep(1_500);
      expect(isAnswered).toBe(false);
      await release();
      return late;
    });

  it('a user and a group are found by whoever created them, and a change is shown', async () => {
    const made = await sentWhileHeld('provisioned_people', () => scim.post(SCIM_USERS, user('late@acme.example')));
    expect(made.status).toBe(201);
    const path = `${SCIM_USERS}/${made.body.id}`;
    expect((await scim.get(path)).body).toEqual(made.body);
    const inactive = patchBody({ op: 'replace', value: { active: false } });
    const patched = await sentWhileHeld('provisioned_people', () => scim.send('PATCH', path, inactive));
    expect([patched.status, patched.body.active]).toEqual([200, false]);
    const late = { schemas: [GROUP_SCHEMA], displayName: 'Late' };
    const grouped = await sentWhileHeld('groups', () => scim.post(SCIM_GROUPS, late));
    expect([grouped.status, (await scim.get(`${SCIM_GROUPS}/${grouped.body.id}`)).status]).toEqual([201, 200]);
  });

  it('a user whom only the log has yet gets 503, and nobody 404', async () => {
    const userName = 'only-in-the-log@acme.example';
    await held('provisioned_people', async (release) => {
      const idInLog = async () => {
        const { rows } = await app.services.database.owner.query<{ id: string }>(
          `select data->>'userId' as id from events where type = 'EmployeeCreated' order by position desc limit 1`,
        );
        return rows[0]!.id;
      };
      const before = await idInLog();
      const late = scim.post(SCIM_USERS, user(userName));
      await expect.poll(idInLog, { timeout: 10_000 }).not.toBe(before);
      const id = await idInLog();
      const { status, headers, body } = await scim.get(`${SCIM_USERS}/${id}`);
      expect([status, Number(headers.get('retry-after')) > 0, body.schemas]).toEqual([503, true, [ERROR_SCHEMA]]);
      await release();
      expect([(await late).status, (await late).body.id]).toEqual([201, id]);
      expect((await scim.get(`${SCIM_USERS}/${id}`)).status).toBe(200);
    });
  });
});
