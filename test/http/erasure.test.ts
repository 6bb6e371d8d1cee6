import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmployee } from '../../commands/employees/create-employee.ts';
import { erasePerson as decideErasure } from '../../commands/employees/erase-person.ts';
import { readModels } from '../../projections/index.ts';
import { erasePerson } from '../../src/employees/cli.ts';
import { system } from '../../src/kernel/actor.ts';
import { orThrow } from '../../src/kernel/failure.ts';
import { diffModel } from '../../src/projector/diff.ts';
import { agentSecretOf } from '../dsl/agent-secret.ts';
import { startApp, type TestApp, type TestTenant } from '../dsl/app.ts';

const USERS = '/api/v1/admin/users';

describe('the erasure of a person', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await startApp();
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  /** Somebody of whom everything says so: each value holds one word that stands nowhere else. */
  async function somebody() {
    const mark = `zq${randomUUID().replaceAll('-', '')}`;
    const userId = randomUUID();
    const email = `${mark}@corp.example`;
    const input = { userId, email, displayName: `N ${mark}`, department: `D ${mark}`, jobTitle: `J ${mark}`, externalId: `X-${mark}`, source: 'directory', isActive: true } as const;
    orThrow(await app.services.executor.execute(createEmployee, input, { tenantId: acme.tenantId, actor: system('test') }));
    await app.settled();
    await acme.admin.put(`${USERS}/${userId}`, { email: `second-${email}`, displayName: `Second ${mark}` });
    const enrolled = await app.anonymous.post(
      '/api/v1/enroll/auto',
      { username: 'someone', upn: `second-${email}`, tenantId: acme.tenantId, deviceInfo: { hostname: `HOST-${mark}` } },
      { headers: { 'x-tenant-id': acme.tenantId, 'x-enrollment-secret': await agentSecretOf(acme) } },
    );
    if (enrolled.status !== 200) throw new Error(enrolled.text);
    const pem = Buffer.from(enrolled.body.certificateData as string, 'base64').toString();
    const block = (label: string) => new RegExp(`-----BEGIN ${label}-----[\\s\\S]+?-----END ${label}-----`).exec(pem)![0];
    const device = app.device(block('CERTIFICATE'), block('PRIVATE KEY'));
    const common = { occurredAt: new Date().toISOString(), domain: 'shop.example', url: `https://shop.example/${mark}` };
    const events = [
      { ...common, eventId: randomUUID(), kind: 'navigation', data: { title: `T ${mark}`, isNewSite: true } },
      { ...common, eventId: randomUUID(), kind: 'credential_attempt', data: { username: `u-${mark}`, passwordHash: 'ab'.repeat(32), isBreached: true, action: 'warn' } },
      { ...common, eventId: randomUUID(), kind: 'clickfix_detected', data: { action: 'block', snippet: `S ${mark}` } },
    ];
    const { status, body } = await device.post('/api/v1/ext/events', { events });
    if (status !== 202 || body.accepted !== events.length) throw new Error(`not accepted: ${JSON.stringify(body)}`);
    device.close();
    await app.settled();
    return { userId, mark, email };
  }

  /** Every table of the house in which the word stands, in whatever column. */
  async function tablesWith(word: string): Promise<string[]> {
    const { owner } = app.services.database;
    const { rows } = await owner.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    const found: string[] = [];
    for (const { name } of rows) {
      const { rowCount } = await owner.query(`select 1 from ${name} t where strpos(lower(t::text), lower($1)) > 0 limit 1`, [word]);
      if (rowCount) found.push(name);
    }
    return found.sort();
  }

  const differences = async (): Promise<string[]> => {
    const { store, codec, database } = app.services;
    const found: string[] = [];
    for (const model of readModels) {
      const { differences: rows } = await diffModel({ store, codec, pool: database.projector }, model);
      for (const row of rows) found.push(`${model.name} ${JSON.stringify(row)}`);
    }
    return found;
  };

  it('leaves none of their values in any table or event, and the tables are what a rebuild makes', async () => {
    const { userId, mark } = await somebody();
    const before = await tablesWith(mark);
    // The test would prove nothing if the values had not been there.
    expect(before.map((name) => name.replace(/_v\d+.*$/, ''))).toEqual(expect.arrayContaining(['public.employees', 'public.devices']));
    expect(before).not.toContain('public.events');

    expect((await acme.admin.delete(`${USERS}/${userId}?erase=true`)).status).toBe(204);
    await app.settled();
    expect(await tablesWith(mark)).toEqual([]);
    expect((await acme.admin.get(`${USERS}/${userId}`)).status).toBe(404);
    expect(await differences()).toEqual([]);

    const stored = await app.services.store.readStream(`employee-${acme.tenantId}.${userId}`);
    const decoded = await app.services.codec.decode(stored);
    expect(decoded.map((event) => event?.type)).toEqual(['EmployeeCreated', 'EmployeeUpdated', 'EmployeeDeleted', 'EmployeeErasureRequested', 'EmployeeErased']);
    expect(decoded[0]?.data).toMatchObject({ email: '[erased]', emailDigest: '[erased]', displayName: '[erased]', source: 'directory' });
  });

  it('reaches somebody who was deleted before', async () => {
    const { userId, mark } = await somebody();
    expect((await acme.admin.delete(`${USERS}/${userId}`)).status).toBe(204);
    await app.settled();
    expect((await acme.admin.delete(`${USERS}/${userId}?erase=true`)).status).toBe(204);
    await app.settled();
    expect(await tablesWith(mark)).toEqual([]);
    expect(await differences()).toEqual([]);
  });

  it('frees their e-mail for somebody else, and cannot be asked for nobody', async () => {
    const { userId, email } = await somebody();
    expect((await acme.admin.delete(`${USERS}/${userId}?erase=true`)).status).toBe(204);
    expect((await acme.admin.delete(`${USERS}/${userId}?erase=true`)).status).toBe(204);
    for (const address of [email, `second-${email}`]) {
      expect((await acme.admin.post(USERS, { email: address, displayName: 'Another' })).status).toBe(201);
    }
    expect((await acme.admin.delete(`${USERS}/${randomUUID()}?erase=true`)).status).toBe(404);
  });

  it('is carried out also where whoever decided it did not live to do so', async () => {
    const { userId, mark } = await somebody();
    orThrow(await app.services.executor.execute(decideErasure, { userId }, { tenantId: acme.tenantId, actor: system('test') }));
    await app.settled();
    expect(await tablesWith(mark)).toEqual([]);
  });

  it('is a matter of super admins', async () => {
    const { body } = await acme.admin.post(USERS, { email: `${randomUUID()}@corp.example`, displayName: 'Ada' });
    const { client } = await app.adminWithRole(acme, 'admin');
    expect((await client.delete(`${USERS}/${body.id}?erase=true`)).status).toBe(403);
    expect((await client.delete(`${USERS}/${body.id}?erase=yes`)).status).toBe(400);
    expect((await client.delete(`${USERS}/${body.id}`)).status).toBe(204);
  });

  it('may be asked for beside the service, by e-mail', async () => {
    const { userId, email, mark } = await somebody();
    const tenant = acme.tenantId;
    await expect(erasePerson(app.services, { tenant, person: email })).rejects.toThrow('no employee of this e-mail');
    await expect(erasePerson(app.services, { tenant: randomUUID(), person: email })).rejects.toThrow('no such tenant');
    expect(await erasePerson(app.services, { tenant, person: `second-${email}` })).toEqual({ userId });
    await app.settled();
    expect(await tablesWith(mark)).toEqual([]);
  });
});
