import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compose, type Application } from '../../../../src/app/compose/compose.ts';
import { newLogger } from '../../../../src/platform/observability/logger.ts';
import { httpClient, startApp, type TestApp, type TestResponse, type TestTenant } from '../../../dsl/app.ts';
import { askForToken, basic, form, newScimClient, SCIM_USERS, type TestScimClient } from '../../../dsl/scim.ts';

const BASE = '/api/v1/admin/scim/clients';
/** 43 characters, as a secret has. */
const GUESS = 'guessed-secret-guessed-secret-guessed-secre';

describe('OP-599: why a SCIM client is refused', () => {
  let app: TestApp;
  let other: Application;
  let tenant: TestTenant;
  beforeAll(async () => {
    app = await startApp();
    other = await compose(
      { ...app.config, role: 'api' },
      { database: app.services.database.config, log: newLogger('silent') },
    );
    tenant = await app.newTenant();
  });
  afterAll(async () => {
    await other.stop();
    await app.close();
  });

  const bearer = (token: string, url = app.url) => httpClient(url, { authorization: `Bearer ${token}` });
  const withSecret = (client: TestScimClient, clientSecret: string) => ({ ...client, clientSecret });
  const guessed = (client: TestScimClient) => askForToken(app, withSecret(client, GUESS));

  /** Everything that was refused until now is in the log and in the tables. */
  async function recorded(): Promise<void> {
    for (const { services, addresses } of [app.application, other]) {
      // Refusals are noted after their responses; another response comes later than that.
      await httpClient(addresses.http, {}).get('/health');
      await services.refusedScimClients.settled();
    }
    await app.settled();
  }
  /** Newest first, of all clients of the tenant. */
  async function entries(of = tenant) {
    await recorded();
    const { body } = await of.admin.get('/api/v1/admin/audit-log?action=scim_client.refused&page_size=100');
    return body.auditLogs as { resourceId: string; details: Record<string, unknown>; [name: string]: unknown }[];
  }
  const refusalsOf = async ({ id }: TestScimClient, of = tenant) =>
    (await entries(of)).filter(({ resourceId }) => resourceId === id).map(({ details }) => details);
  const shown = async ({ clientId }: TestScimClient) => {
    await recorded();
    const { clients } = (await tenant.admin.get(BASE)).body;
    return clients.find((each: { clientId: string }) => each.clientId === clientId);
  };
  const refusal = ({ id }: TestScimClient, reason: string, secretId: string | null = null) => ({
    clientId: id,
    reason,
    secretId,
    at: expect.any(String),
  });

  it('is in the audit log: reason, client and address, once', async () => {
    const client = await newScimClient(tenant);
    for (let each = 0; each < 3; each += 1) expect((await guessed(client)).status).toBe(401);
    const own = (await entries()).filter(({ resourceId }) => resourceId === client.id);
    expect(own).toMatchObject([
      {
        action: 'scim_client.refused',
        resourceType: 'scim_client',
        actorType: 'system',
        actorId: null,
        ipAddress: '127.0.0.1',
        details: refusal(client, 'wrong_secret'),
      },
    ]);
  });

  it('is shown in the list of clients', async () => {
    const client = await newScimClient(tenant);
    expect(await shown(client)).toMatchObject({ lastRefusedAt: null, lastRefusal: null });
    await guessed(client);
    const { lastRefusedAt, lastRefusal } = await shown(client);
    expect(lastRefusal).toBe('wrong_secret');
    expect(Math.abs(Date.now() - Date.parse(lastRefusedAt))).toBeLessThan(60_000);
  });

  it('is recorded for a lasting token, and for introspection and revocation', async () => {
    const [lasting, introspecting, revoking] = [
      await newScimClient(tenant),
      await newScimClient(tenant),
      await newScimClient(tenant),
    ];
    expect((await bearer(`${lasting.clientId}.${GUESS}`).get(SCIM_USERS)).status).toBe(401);
    const asked = { token: 'x', clientSecret: GUESS };
    await app.anonymous.post('/oauth/introspect', { ...asked, clientId: introspecting.clientId });
    const parameters = form({ token: 'x' });
    await app.anonymous.send('POST', '/oauth/revoke', {
      ...parameters,
      headers: { ...parameters.headers, authorization: basic(withSecret(revoking, GUESS)) },
    });
    for (const client of [lasting, introspecting, revoking])
      expect(await refusalsOf(client)).toEqual([refusal(client, 'wrong_secret')]);
  });

  it('says which secret has expired or was removed', async () => {
    const client = await newScimClient(tenant, { expiresAt: new Date(Date.now() + 1_500).toISOString() });
    const path = `${BASE}/${client.clientId}/secrets`;
    const second = (await tenant.admin.post(path, {})).body as { id: string; clientSecret: string };
    await tenant.admin.delete(`${path}/${second.id}`);
    await askForToken(app, withSecret(client, second.clientSecret));
    await sleep(1_600);
    expect((await bearer(`${client.clientId}.${client.clientSecret}`).get(SCIM_USERS)).status).toBe(401);
    await askForToken(app, client);
    expect(await refusalsOf(client)).toEqual([
      refusal(client, 'expired_secret', client.secretId),
      refusal(client, 'removed_secret', second.id),
    ]);
    expect(await shown(client)).toMatchObject({ lastRefusal: 'expired_secret' });
  });

  it('is recorded once an hour for each reason, whatever comes in between, on however many processes', async () => {
    const client = await newScimClient(tenant);
    const guess = { grantType: 'client_credentials', clientId: client.clientId, clientSecret: GUESS };
    const anywhere = [app.url, other.addresses.http].map((url) => httpClient(url, {}));
    const storm = Array.from({ length: 40 }, (_, each) =>
      each % 3 === 0
        ? bearer(`${client.clientId}.${GUESS}`, [app.url, other.addresses.http][each % 2]).get(SCIM_USERS)
        : anywhere[each % 2]!.post('/oauth/token', guess),
    );
    expect([...new Set((await Promise.all(storm)).map(({ status }) => status))]).toEqual([401]);
    expect((await askForToken(app, client)).status).toBe(200);
    for (const each of anywhere) await each.post('/oauth/token', guess);
    expect(await refusalsOf(client)).toEqual([refusal(client, 'wrong_secret')]);
  });

  it('lengthens no stream that decisions about clients load', async () => {
    const streams = async () => {
      const { rows } = await app.services.database.owner.query<{ stream: string; events: string }>(
        `select stream, count(*) as events from events where stream like 'scimClients-%' group by stream order by stream`,
      );
      return rows;
    };
    const client = await newScimClient(tenant);
    const before = await streams();
    await guessed(client);
    await recorded();
    expect(await streams()).toEqual(before);
  });

  it('is in no log for a client that does not exist', async () => {
    const deleted = await newScimClient(tenant);
    await tenant.admin.delete(`${BASE}/${deleted.clientId}`);
    const unknown = Buffer.from(`${tenant.tenantId}${'7'.repeat(32)}`.replaceAll('-', ''), 'hex').toString('base64url');
    await recorded();
    const head = await app.services.store.head();
    for (const clientId of [deleted.clientId, unknown, 'nonsense']) {
      expect((await askForToken(app, { clientId, clientSecret: deleted.clientSecret })).status).toBe(401);
      expect((await bearer(`${clientId}.${deleted.clientSecret}`).get(SCIM_USERS)).status).toBe(401);
    }
    expect((await bearer(GUESS).get(SCIM_USERS)).status).toBe(401);
    await recorded();
    expect(await app.services.store.head()).toBe(head);
  });

  it('belongs to the tenant of the client', async () => {
    const neighbour = await app.newTenant();
    const client = await newScimClient(neighbour);
    await guessed(client);
    expect(await refusalsOf(client, neighbour)).toHaveLength(1);
    expect(await refusalsOf(client, tenant)).toEqual([]);
  });

  it('is not in the response, which is the same for whoever exists', async () => {
    const client = await newScimClient(tenant);
    const said = ({ status, headers, body }: TestResponse) => {
      const { requestId: _requestId, ...told } = body as Record<string, unknown>;
      const fixed = [...headers].filter(([name]) => !/^(?:date|x-request-id|x-ratelimit-.*)$/.test(name));
      return { status, told, headers: Object.fromEntries(fixed) };
    };
    const [known, unknown] = [client.clientId, 'B'.repeat(42) + 'A'];
    const refused = (clientId: string) => askForToken(app, { clientId, clientSecret: GUESS });
    expect(said(await refused(known))).toEqual(said(await refused(unknown)));
    const listed = (clientId: string) => bearer(`${clientId}.${GUESS}`).get(SCIM_USERS);
    expect(said(await listed(known))).toEqual(said(await listed(unknown)));
  });

  it('holds nothing of what was presented', async () => {
    const client = await newScimClient(tenant);
    const presented = 'presented-and-kept-nowhere';
    await askForToken(app, withSecret(client, presented));
    await bearer(`${client.clientId}.${presented}`).get(SCIM_USERS);
    expect(await refusalsOf(client)).toHaveLength(1);
    for (const table of ['events', 'scim_clients', 'audit_log']) {
      const { rows } = await app.services.database.owner.query(
        `select 1 from ${table} t where strpos(t::text, $1) > 0 limit 1`,
        [presented],
      );
      expect([table, rows]).toEqual([table, []]);
    }
  });
});
