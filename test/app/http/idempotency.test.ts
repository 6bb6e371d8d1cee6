import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type Client, type TestApp, type TestTenant } from '../../dsl/app.ts';

const USERS = '/api/v1/admin/users';
const RUNNING = 'the first request with this idempotency key is still being answered';

describe('the Idempotency-Key header', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await startApp();
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  const person = () => ({ email: `${randomUUID()}@acme.example`, displayName: 'Ann' });
  const create = (client: Client, body: object, key: string) =>
    client.post(USERS, body, { headers: { 'idempotency-key': key } });
  const sql = (text: string, values: unknown[] = []) => app.services.database.owner.query(text, values);
  const creations = async () => (await sql(`select from events where type = 'EmployeeCreated'`)).rowCount;

  it('creates once for concurrent requests, and all of them get the same response', async () => {
    const [body, key, before] = [person(), randomUUID(), await creations()];
    // Told to come again only where the first takes longer than others wait, as on a busy machine.
    const created = async () => {
      const answer = await create(acme.admin, body, key);
      return answer.body.code === 'idempotent_request_running' ? create(acme.admin, body, key) : answer;
    };
    const answers = await Promise.all(Array.from({ length: 12 }, created));
    expect(answers.map(({ status, body: { id } }) => [status, id as string])).toEqual(
      Array(12).fill([201, answers[0]!.body.id]),
    );
    expect(await creations()).toBe(before! + 1);
  });

  it('waits for an attempt that holds its row for longer than a statement waits', async () => {
    const [body, key] = [person(), randomUUID()];
    const { body: first } = await create(acme.admin, body, key);
    const other = await app.services.database.owner.connect();
    try {
      await other.query('begin');
      await other.query('select from idempotent_answers for update');
      const retried = create(acme.admin, body, key);
      await sleep(3_500);
      await other.query('commit');
      expect(await retried).toMatchObject({ status: 201, body: first });
    } finally {
      other.release();
    }
  });

  it('belongs to one caller of one tenant', async () => {
    const key = randomUUID();
    const { client: colleague } = await app.adminWithRole(acme, 'admin');
    const other = await app.newTenant();
    const ids = [];
    for (const client of [acme.admin, colleague, other.admin]) {
      const { status, body, headers } = await create(client, person(), key);
      expect([status, headers.get('idempotent-replayed')]).toEqual([201, null]);
      ids.push(body.id);
    }
    expect(new Set(ids).size).toBe(3);
  });

  describe('replays only to a caller who would be admitted now', () => {
    const ADMINS = '/api/v1/admin/admin-users';
    const colleague = (roleType: string) => ({ email: `${randomUUID()}@acme.example`, displayName: 'Grace', roleType });
    const hire = (client: Client, body: object, key: string) =>
      client.post(ADMINS, body, { headers: { 'idempotency-key': key } });
    const loseAnswers = () =>
      sql(
        `update idempotent_answers set status = null, sealed_body = null, running_until = now() - interval '1 second'`,
      );

    it('requires re-authentication again if the first request needed it, and only then', async () => {
      const stolen = app.as(acme.token);
      const [admin, key] = [colleague('admin'), randomUUID()];
      const first = await hire(acme.admin, admin, key);
      expect([first.status, typeof first.body.temporaryPassword]).toEqual([201, 'string']);
      const refused = { status: 403, body: { error: 're-authentication required' } };
      expect(await hire(stolen, admin, key)).toMatchObject(refused);
      await loseAnswers();
      expect(await hire(stolen, admin, key)).toMatchObject(refused);
      expect(await hire(acme.admin, admin, key)).toMatchObject({ status: 201, body: first.body });
      expect(await hire(stolen, admin, key)).toMatchObject(refused);

      // A token that names nobody needs no proof.
      const headers = { 'idempotency-key': randomUUID() };
      const issue = () => stolen.send('POST', '/api/v1/admin/enrollment/token', { body: {}, headers });
      const unproved = await issue();
      expect(await issue()).toMatchObject({ status: 201, body: unproved.body });
    });

    it('requires it also if the need of the first request is unknown, as for rows of an earlier version', async () => {
      const [analyst, key] = [colleague('analyst'), randomUUID()];
      const first = await hire(acme.admin, analyst, key);
      await sql('update idempotent_answers set role = null, reauthenticated = null');
      expect((await hire(app.as(acme.token), analyst, key)).status).toBe(403);
      expect(await hire(acme.admin, analyst, key)).toMatchObject({ status: 201, body: first.body });
    });

    it('returns nothing to a caller who has lost the role, or the session', async () => {
      const boss = await app.adminWithRole(acme, 'super_admin');
      const [admin, key] = [colleague('admin'), randomUUID()];
      expect((await hire(boss.client, admin, key)).status).toBe(201);
      expect((await acme.admin.put(`${ADMINS}/${boss.adminId}`, { roleType: 'admin' })).status).toBe(200);
      const demoted = await hire(boss.client, admin, key);
      expect([demoted.status, demoted.body.error]).toEqual([
        403,
        'the role has changed since the first request with this idempotency key',
      ]);
      expect((await acme.admin.put(`${ADMINS}/${boss.adminId}`, { roleType: 'viewer' })).status).toBe(200);
      expect((await hire(boss.client, admin, key)).body.error).toBe('insufficient permissions');
      expect((await acme.admin.delete(`${ADMINS}/${boss.adminId}`)).status).toBe(204);
      expect((await hire(boss.client, admin, key)).status).toBe(401);
    });
  });

  it('is free again after a refusal, also for another body', async () => {
    const key = randomUUID();
    const taken = person();
    await acme.admin.post(USERS, taken);
    expect((await create(acme.admin, taken, key)).status).toBe(409);
    expect((await create(acme.admin, person(), key)).status).toBe(201);
  });

  it('expires after 24 hours: the same secret is not created twice', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const token = async () =>
      (await acme.admin.post('/api/v1/admin/enrollment/token', {}, { headers })).body.token as string;
    const first = await token();
    expect(await token()).toBe(first);
    await sql(`update idempotent_answers set created_at = now() - interval '24 hours 1 second'`);
    expect(await token()).not.toBe(first);
    await sql(`update idempotent_answers set created_at = now() - interval '24 hours 1 second'`);
    await sql('select sweep_expired_tokens()');
    expect((await sql('select from idempotent_answers')).rowCount).toBe(0);
  });

  /** The row of an attempt that is running, or whose process was just killed. */
  const interrupt = (seconds: number) =>
    sql(
      `update idempotent_answers set status = null, sealed_body = null, running_until = now() + $1 * interval '1 second'`,
      [seconds],
    );

  it('makes a retry wait until the attempt of a killed process counts as dead', async () => {
    const [body, key] = [person(), randomUUID()];
    const first = await create(acme.admin, body, key);
    await interrupt(0.5);
    const retried = await create(acme.admin, body, key);
    expect([retried.status, retried.body]).toEqual([201, first.body]);
  });

  it('is a conflict while the first attempt takes long', async () => {
    const [body, key] = [person(), randomUUID()];
    await create(acme.admin, body, key);
    await interrupt(60);
    const retried = await create(acme.admin, body, key);
    expect([retried.status, retried.body]).toEqual([409, expect.objectContaining({ error: RUNNING })]);
  }, 20_000);

  it('stores neither the body nor a hash from which it could be guessed', async () => {
    const body = {
      email: `${randomUUID()}@acme.example`,
      displayName: 'Grace',
      roleType: 'analyst',
      password: 'Guess-This-Horse-7!',
    };
    const path = '/api/v1/admin/admin-users';
    const key = randomUUID();
    expect((await acme.admin.post(path, body, { headers: { 'idempotency-key': key } })).status).toBe(201);
    const { rows } = await sql('select t::text as row from idempotent_answers t');
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    const guesses = [
      key,
      `${path}\n${JSON.stringify(body)}`,
      `POST${path}${JSON.stringify(body)}`,
      JSON.stringify(body),
    ].map(sha256);
    expect(rows.length).toBeGreaterThan(0);
    for (const { row } of rows as { row: string }[]) {
      for (const guess of guesses) expect(row).not.toContain(guess);
      expect(row).not.toContain(Buffer.from('grace').toString('hex'));
    }
  });

  it('returns no erased person, and does not create them again', async () => {
    const [body, key] = [person(), randomUUID()];
    const { id } = (await create(acme.admin, body, key)).body;
    expect((await acme.admin.delete(`${USERS}/${id}?erase=true`)).status).toBe(204);
    const before = await creations();
    expect((await create(acme.admin, body, key)).status).toBe(404);
    expect(await creations()).toBe(before);
  });

  it('continues an interrupted import', async () => {
    const lines = Array.from({ length: 40 }, () => `${randomUUID()}@acme.example,Somebody`);
    const send = async (rows: readonly string[], key: string) => {
      const form = new FormData();
      form.append('file', new Blob([['email,displayName', ...rows].join('\r\n')]), 'people.csv');
      const answer = await fetch(`${app.url}${USERS}/import`, {
        method: 'POST',
        headers: { authorization: `Bearer ${acme.token}`, 'idempotency-key': key },
        body: form,
      });
      return { status: answer.status, body: (await answer.json()) as { error?: string } };
    };
    const key = randomUUID();
    const first = await send(lines, key);
    expect(first).toMatchObject({ status: 200, body: { imported: 40, updated: 0, skipped: 0 } });
    await interrupt(-1);
    expect(await send(lines, key)).toEqual(first);
    expect((await send(lines.slice(1), key)).body.error).toBe('the idempotency key belongs to another request');
  });

  it('is limited in number per tenant; known keys continue to work', async () => {
    const tenant = await app.newTenant();
    const [body, key] = [person(), randomUUID()];
    const first = await create(tenant.admin, body, key);
    await sql(
      `insert into idempotent_answers (tenant_id, subject_id, digest, request_hash, status, running_until)
       select $1, gen_random_uuid(), decode(md5(n::text), 'hex'), '', 200, now() from generate_series(1, 20000) n`,
      [tenant.tenantId],
    );
    // The count is cached for some seconds.
    await expect
      .poll(async () => (await create(tenant.admin, person(), randomUUID())).status, { timeout: 15_000 })
      .toBe(429);
    expect((await create(tenant.admin, body, key)).body).toEqual(first.body);
    expect((await create(acme.admin, person(), randomUUID())).status).toBe(201);
  }, 30_000);
});
