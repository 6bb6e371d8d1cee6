import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeProvisionedEmployee } from '../../../../commands/employees/change-provisioned-employee.ts';
import { erasePerson as decideErasure } from '../../../../commands/employees/erase-person.ts';
import { identityProviderNamed } from '../../../../src/contexts/discovery/domain/identity-provider.ts';
import { erasePersonAsOperator } from '../../../../src/app/cli/employees.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import { agentSecretOf } from '../../../dsl/agent-secret.ts';
import { rebuildLive } from '../../../../src/platform/projector/rebuild.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { provisionedPerson, statedPerson } from '../../../dsl/provisioned-person.ts';
import { enrolledDevice } from '../../../dsl/enrolled-device.ts';
import { foldedTables } from '../../../dsl/folded-tables.ts';

const USERS = '/api/v1/admin/users';

describe('the erasure of a person', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await startApp();
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  /** A person whose every value holds one word that occurs nowhere else. */
  async function somebody() {
    const mark = `zq${randomUUID().replaceAll('-', '')}`;
    const profile = { nickName: `Nick ${mark}` };
    const names = { upn: `U-${mark}@ad.example`, sid: `S-${mark}`, profile };
    const source = { kind: 'directory', id: randomUUID() } as const;
    const { userId } = await provisionedPerson(app, acme, statedPerson(mark, names), source);
    const email = `${mark}@corp.example`;
    const person = statedPerson(mark, { ...names, email: `second-${email}`, displayName: `Second ${mark}` });
    orThrow(
      await app.services.executor.execute(
        changeProvisionedEmployee,
        { userId, source, person },
        { tenantId: acme.tenantId, actor: system('test') },
      ),
    );
    await app.settled();
    const enrolled = await app.anonymous.post(
      '/api/v1/enroll/auto',
      {
        username: 'someone',
        upn: `second-${email}`,
        tenantId: acme.tenantId,
        deviceInfo: { hostname: `HOST-${mark}` },
      },
      { headers: { 'x-tenant-id': acme.tenantId, 'x-enrollment-secret': await agentSecretOf(acme) } },
    );
    if (enrolled.status !== 200) throw new Error(enrolled.text);
    const pem = Buffer.from(enrolled.body.certificateData as string, 'base64').toString();
    const block = (label: string) =>
      new RegExp(`-----BEGIN ${label}-----[\\s\\S]+?-----END ${label}-----`).exec(pem)![0];
    const device = app.device(block('CERTIFICATE'), block('PRIVATE KEY'));
    const common = {
      occurredAt: new Date().toISOString(),
      domain: 'shop.example',
      url: `https://shop.example/${mark}`,
    };
    const events = [
      { ...common, eventId: randomUUID(), kind: 'navigation', data: { title: `T ${mark}`, isNewSite: true } },
      {
        ...common,
        eventId: randomUUID(),
        kind: 'credential_attempt',
        data: { username: `u-${mark}`, passwordHash: 'ab'.repeat(32), isBreached: true, action: 'warn' },
      },
      { ...common, eventId: randomUUID(), kind: 'clickfix_detected', data: { action: 'block', snippet: `S ${mark}` } },
    ];
    const { status, body } = await device.post('/api/v1/ext/events', { events });
    if (status !== 202 || body.accepted !== events.length) throw new Error(`not accepted: ${JSON.stringify(body)}`);
    device.close();
    await app.settled();
    return { userId, mark, email };
  }

  /** Every table with this word in any column. */
  async function tablesWith(word: string): Promise<string[]> {
    const { owner } = app.services.database;
    const { rows } = await owner.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    const found: string[] = [];
    for (const { name } of rows) {
      const { rowCount } = await owner.query(
        `select 1 from ${name} t where strpos(lower(t::text), lower($1)) > 0 limit 1`,
        [word],
      );
      if (rowCount) found.push(name);
    }
    return found.sort();
  }

  const differences = async (): Promise<readonly string[]> => (await foldedTables(app.services)).differences;

  it('leaves none of their values in any table or event, and the tables match a rebuild', async () => {
    const { userId, mark } = await somebody();
    const before = await tablesWith(mark);
    // Without these values before, the test would prove nothing.
    expect(before.map((name) => name.replace(/_v\d+.*$/, ''))).toEqual(
      expect.arrayContaining(['public.employees', 'public.devices']),
    );
    expect(before).not.toContain('public.events');

    expect((await acme.admin.delete(`${USERS}/${userId}?erase=true`)).status).toBe(204);
    await app.settled();
    expect(await tablesWith(mark)).toEqual([]);
    expect((await acme.admin.get(`${USERS}/${userId}`)).status).toBe(404);
    expect(await differences()).toEqual([]);

    const stored = await app.services.store.readStream(`employee-${acme.tenantId}.${userId}`);
    const decoded = await app.services.codec.decode(stored);
    expect(decoded.map((event) => event?.type)).toEqual([
      'EmployeeCreated',
      'EmployeeLinked',
      'EmployeeLinkChanged',
      'EmployeeUpdated',
      'EmployeeDeleted',
      'EmployeeErasureRequested',
      'EmployeeErased',
    ]);
    expect(decoded[0]?.data).toMatchObject({
      email: '[erased]',
      emailDigest: '[erased]',
      displayName: '[erased]',
      source: 'directory',
    });
  });

  it('covers a person who was deleted before', async () => {
    const { userId, mark } = await somebody();
    expect((await acme.admin.delete(`${USERS}/${userId}`)).status).toBe(204);
    await app.settled();
    expect((await acme.admin.delete(`${USERS}/${userId}?erase=true`)).status).toBe(204);
    await app.settled();
    expect(await tablesWith(mark)).toEqual([]);
    expect(await differences()).toEqual([]);
  });

  it('releases their e-mail for another person, and is refused for an unknown one', async () => {
    const { userId, email } = await somebody();
    expect((await acme.admin.delete(`${USERS}/${userId}?erase=true`)).status).toBe(204);
    expect((await acme.admin.delete(`${USERS}/${userId}?erase=true`)).status).toBe(204);
    for (const address of [email, `second-${email}`]) {
      expect((await acme.admin.post(USERS, { email: address, displayName: 'Another' })).status).toBe(201);
    }
    expect((await acme.admin.delete(`${USERS}/${randomUUID()}?erase=true`)).status).toBe(404);
  });

  it('is carried out even if the process that decided it was killed', async () => {
    const { userId, mark } = await somebody();
    orThrow(
      await app.services.executor.execute(
        decideErasure,
        { userId },
        { tenantId: acme.tenantId, actor: system('test') },
      ),
    );
    await app.settled();
    expect(await tablesWith(mark)).toEqual([]);
  });

  /**
   * A person with a browser that enrolled by token, who is mentioned in every free text that a user can write, and who
   * visited hosts that no other user visited.
   */
  async function somebodyKnownInEveryWay() {
    const mark = `zq${randomUUID().replaceAll('-', '')}`;
    const host = `h${randomUUID().replaceAll('-', '')}`;
    const device = await enrolledDevice(app, acme, { deviceFingerprint: `fp-${mark}` });
    const { userId, deviceId } = device;
    expect(
      (await acme.admin.put(`${USERS}/${userId}`, { email: `${mark}@corp.example`, displayName: `N ${mark}` })).status,
    ).toBe(200);
    const seen = (kind: string, data: object, name = 'shop') => ({
      eventId: randomUUID(),
      kind,
      occurredAt: new Date().toISOString(),
      domain: `${name}.${host}.example`,
      url: `https://${name}.${host}.example/${mark}`,
      data,
    });
    const password = { username: `u-${mark}`, passwordHash: 'cd'.repeat(32), isBreached: true, action: 'warn' };
    const events = [
      seen('navigation', {
        title: `T ${mark}`,
        isNewSite: true,
        referrerDomain: `from.${host}.example`,
        technologies: [
          { name: 'React', version: '18' },
          { name: `${mark}@corp.example`, version: null },
          { name: 'Vue', version: `by ${mark}@corp.example` },
        ],
      }),
      seen('credential_attempt', password),
      seen('credential_attempt', password, 'other'),
      seen('auth_flow', {
        provider: `I ${mark}`,
        method: 'password',
        relyingParty: `rp.${host}.example`,
        mfaObserved: false,
        outcome: 'success',
      }),
      seen('auth_flow', {
        provider: null,
        method: 'password',
        relyingParty: `L ${mark}`,
        mfaObserved: false,
        outcome: 'failure',
      }),
      seen('canary_cookie_triggered', { cookieName: `C ${mark}` }),
      seen('extension_event', {
        extensionId: `x-${mark}`,
        change: 'installed',
        name: `Y ${mark}`,
        version: `V ${mark}`,
        permissions: [`M ${mark}`],
      }),
      seen('clickfix_detected', { action: 'block', snippet: `S ${mark}` }),
      seen('policy_decision', { signals: ['phishing_signal'], action: 'warn', userDecision: 'proceeded' }),
      {
        ...seen('extension_inventory', {
          extensions: [
            {
              extensionId: `ext-${mark}`,
              name: `E ${mark}`,
              version: `V ${mark}`,
              publisher: `P ${mark}`,
              permissions: [`M ${mark}`],
              isEnabled: true,
            },
          ],
        }),
        domain: null,
        url: null,
      },
    ];
    expect((await device.client.post('/api/v1/ext/events', { deviceSequence: 1, events })).body).toMatchObject({
      accepted: events.length,
      rejected: [],
    });
    await app.settled();
    // The browser moves to this person's record, and reports about it.
    const { alerts } = (await acme.admin.get(`/api/v1/admin/alerts?page_size=100&user_id=${userId}`)).body as {
      alerts: { id: string; userId: string }[];
    };
    const own = alerts.filter((alert) => alert.userId === userId);
    expect(own.length).toBeGreaterThan(3);
    const on = (path: string, body: object) => acme.admin.put(`/api/v1/admin/alerts/${own[0]!.id}/${path}`, body);
    expect((await on('acknowledge', { notes: `A ${mark}` })).status).toBe(200);
    expect((await on('severity', { severity: 'critical', reason: `W ${mark}` })).status).toBe(200);
    expect((await on('resolve', { status: 'resolved', resolution: `R ${mark}` })).status).toBe(200);
    expect((await on('reopen', { notes: `O ${mark}` })).status).toBe(200);
    for (const whose of [{ userId }, { deviceId }]) {
      expect(
        (
          await acme.admin.post(
            '/api/v1/admin/unblock-keys',
            { domain: `unblock.${host}.example`, reason: `B ${mark}`, ...whose },
            { headers: { 'idempotency-key': randomUUID() } },
          )
        ).status,
      ).toBe(201);
    }
    device.client.close();
    await app.settled();
    return { userId, deviceId, mark, host };
  }

  /** Rows that contain both words, in any columns. */
  async function rowsWithBoth(one: string, other: string): Promise<string[]> {
    const { owner } = app.services.database;
    const found: string[] = [];
    for (const name of await tablesWith(one)) {
      const { rows } = await owner.query<{ row: string }>(
        `select t::text as row from ${name} t where strpos(lower(t::text), $1) > 0 and strpos(lower(t::text), $2) > 0`,
        [one, other],
      );
      for (const { row } of rows) found.push(`${name} ${row}`);
    }
    return found;
  }

  it('leaves no text that mentions them, and no visited host beside their id or their device', async () => {
    const { userId, deviceId, mark, host } = await somebodyKnownInEveryWay();
    const names = (found: readonly string[]) => new Set(found.map((row) => row.split(' ')[0]!.replace(/_v\d+.*$/, '')));
    // Without these values before, the test would prove nothing.
    expect([...names(await tablesWith(mark))]).toEqual(
      expect.arrayContaining(['public.alerts', 'public.unblock_keys', 'public.devices', 'public.installed_extensions']),
    );
    expect([...names(await rowsWithBoth(host, userId))]).toEqual(
      expect.arrayContaining(['public.events', 'public.alerts', 'public.endpoint_users']),
    );

    expect((await acme.admin.delete(`${USERS}/${userId}?erase=true`)).status).toBe(204);
    await app.settled();
    await expect.poll(() => rowsWithBoth(host, userId), { timeout: 15_000 }).toEqual([]);
    expect(await tablesWith(mark)).toEqual([]);
    expect(await rowsWithBoth(host, deviceId)).toEqual([]);
    // Discovery keeps the host, which identifies nobody.
    expect([...names(await rowsWithBoth(host, 'shop'))]).toEqual(
      expect.arrayContaining(['public.events', 'public.endpoints']),
    );

    expect(await differences()).toEqual([]);
    const { store, codec, database, projector, models } = app.services;
    for (const model of models)
      await rebuildLive({ store, codec, pool: database.projector }, projector, model, () => {});
    expect(await tablesWith(mark)).toEqual([]);
    for (const id of [userId, deviceId]) expect(await rowsWithBoth(host, id)).toEqual([]);
    expect((await acme.admin.get('/api/v1/admin/audit-log/verify')).body).toMatchObject({ valid: true });
    for (const path of [
      'audit-log/export?format=json',
      'search?q=zq',
      'alerts?page_size=100',
      'devices?page_size=100',
      'unblock-keys',
    ]) {
      const { text } = await acme.admin.get(`/api/v1/admin/${path}`);
      expect([path, text.includes(mark), text.includes(host)]).toEqual([path, false, false]);
    }
  }, 60_000);

  it('leaves the telemetry of another person on the same browser', async () => {
    const device = await enrolledDevice(app, acme);
    const report = async (client: typeof device.client, domain: string) => {
      const events = [
        {
          eventId: randomUUID(),
          kind: 'navigation',
          occurredAt: new Date().toISOString(),
          domain,
          url: null,
          data: { title: null, isNewSite: false },
        },
      ];
      expect((await client.post('/api/v1/ext/events', { events })).body).toMatchObject({ accepted: 1 });
    };
    const [first, second] = [`${randomUUID()}.example`, `${randomUUID()}.example`];
    await report(device.client, first);
    await app.settled();
    const other = (await acme.admin.post(USERS, { email: `${randomUUID()}@corp.example`, displayName: 'Bo' })).body
      .id as string;
    // As if an enrollment had moved the browser to another user; the event is written directly to the log.
    await app.services.database.owner.query(
      `update events set data = jsonb_set(data::jsonb, '{userId}', to_jsonb($1::text))::json where type = 'TelemetryRecorded' and strpos(data::text, $2) > 0`,
      [other, first],
    );
    await report(device.client, second);
    expect(await app.services.store.forgetTelemetryOf(acme.tenantId, other)).toBe(1);
    expect(await app.services.store.forgetTelemetryOf(acme.tenantId, other)).toBe(0);
    expect(await rowsWithBoth(second, device.userId)).not.toEqual([]);
    // The stream still accepts new events.
    await report(device.client, `${randomUUID()}.example`);
    device.client.close();
  });

  it("keeps only the read models' name of an identity provider", async () => {
    const device = await enrolledDevice(app, acme);
    const names = ['Okta Preview', 'AZURE ad', 'Google Workspace', "Grace's own provider", ' None ', '', null];
    const events = names.map((provider) => ({
      eventId: randomUUID(),
      kind: 'auth_flow',
      occurredAt: new Date().toISOString(),
      domain: `${randomUUID()}.example`,
      url: null,
      data: { provider, method: 'oidc', relyingParty: null, mfaObserved: true, outcome: 'success' },
    }));
    expect((await device.client.post('/api/v1/ext/events', { events })).body).toMatchObject({ accepted: names.length });
    device.client.close();
    expect(await app.services.store.forgetTelemetryOf(acme.tenantId, device.userId)).toBe(1);
    const kept = await app.services.database.owner.query<{ provider: string | null }>(
      `select seen->>'provider' as provider from events, json_array_elements(data->'observations') as seen
        where type = 'AnonymousTelemetryRecorded' and strpos(data::text, $1) > 0 order by seen->>'domain'`,
      [events[0]!.domain],
    );
    const expected = events
      .toSorted((a, b) => (a.domain < b.domain ? -1 : 1))
      .map(({ data: { provider } }) => identityProviderNamed(provider));
    expect(kept.rows.map(({ provider }) => provider ?? 'none')).toEqual(expected);
  });

  it('is limited to super admins', async () => {
    const { body } = await acme.admin.post(USERS, { email: `${randomUUID()}@corp.example`, displayName: 'Ada' });
    const { client } = await app.adminWithRole(acme, 'admin');
    expect((await client.delete(`${USERS}/${body.id}?erase=true`)).status).toBe(403);
    expect((await client.delete(`${USERS}/${body.id}?erase=yes`)).status).toBe(400);
    expect((await client.delete(`${USERS}/${body.id}`)).status).toBe(204);
  });

  it('can be requested from the command line, by e-mail', async () => {
    const { userId, email, mark } = await somebody();
    const tenant = acme.tenantId;
    await expect(erasePersonAsOperator(app.services, { tenant, person: email })).rejects.toThrow(
      'there is no employee with this e-mail',
    );
    await expect(erasePersonAsOperator(app.services, { tenant: randomUUID(), person: email })).rejects.toThrow(
      'no such tenant',
    );
    expect(await erasePersonAsOperator(app.services, { tenant, person: `second-${email}` })).toEqual({
      tenantId: tenant,
      userId,
    });
    await app.settled();
    expect(await tablesWith(mark)).toEqual([]);
  });
});
