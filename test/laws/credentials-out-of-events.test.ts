import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { families } from '../../src/contexts/families.ts';
import { logDestination, logDestinationStream } from '../../src/contexts/log-destinations/domain/log-destination.ts';
import { notificationSettings, notificationSettingsStream } from '../../src/contexts/notifications/domain/settings.ts';
import { system } from '../../src/platform/kernel/actor.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { orThrow } from '../../src/platform/kernel/failure.ts';
import { startApp, type TestApp, type TestTenant } from '../dsl/app.ts';
import { startHttpSink } from '../dsl/log-sinks.ts';
import { eventually, newAlert, NOTIFICATIONS, webhookSecret } from '../dsl/notified.ts';
import { startWebhookReceiver } from '../fixtures/webhook-receiver.ts';

const DESTINATIONS = '/api/v1/admin/integrations/log-destinations';

/** Events with addresses or headers of other systems, each with the test below that writes it. */
const WRITTEN_HERE = ['AlertNotificationSettingsChanged', 'LogDestinationCreated', 'LogDestinationUpdated'];

/** Events of earlier versions, which hold what the present ones keep in the vault. */
const earlierWebhook = defineCommand({
  name: 'EarlierWebhook',
  aggregate: notificationSettings,
  stream: (_address: string, { tenantId }) => notificationSettingsStream(tenantId),
  decide: (_state, webhookUrl) =>
    accept([
      { type: 'AlertNotificationSettingsChanged', data: { webhookUrl, webhookUrlRef: null, webhookEnabled: true } },
    ]),
  freshens: ['alert_notification_settings'],
});
const earlierDestination = defineCommand({
  name: 'EarlierDestination',
  aggregate: logDestination,
  stream: ({ destinationId }: { destinationId: string; url: string; key: string }, { tenantId }) =>
    logDestinationStream(tenantId, destinationId),
  decide: (_state, { destinationId, url, key }) =>
    accept([
      {
        type: 'LogDestinationCreated',
        data: {
          destinationId,
          slot: 9,
          name: 'Earlier',
          format: 'json',
          isEnabled: false,
          eventTypes: ['audit'],
          config: { type: 'webhook', url, headers: { 'x-key': key }, payload: 'ndjson' },
          secretRef: null,
          addressRef: null,
          allowPrivateNetwork: false,
          caCertificate: null,
        },
      },
    ]),
  freshens: ['log_destinations'],
});

/** OP-434. */
describe('an address or a header that is a credential', () => {
  let app: TestApp;
  let tenant: TestTenant;
  beforeAll(async () => {
    app = await startApp({ devMode: true });
    tenant = await app.newTenant();
  });
  afterAll(() => app.close());

  /** Tables that hold this text in clear. */
  async function tablesWith(text: string): Promise<string[]> {
    await app.settled();
    const { owner } = app.services.database;
    const { rows } = await owner.query<{ name: string }>(
      `select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
        where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    const found: string[] = [];
    for (const { name } of rows) {
      const held = await owner.query(`select 1 from ${name} t where t::text like $1 limit 1`, [`%${text}%`]);
      if (held.rowCount) found.push(name);
    }
    return found;
  }
  const secretsOf = async (field: string, owner: string): Promise<number> =>
    (await app.services.database.owner.query('select from secrets where field = $1 and owner = $2', [field, owner]))
      .rowCount!;
  const run = async (command: unknown, input: unknown) => {
    orThrow(
      await app.services.executor.execute(command as typeof earlierWebhook, input as string, {
        tenantId: tenant.tenantId,
        actor: system('test'),
      }),
    );
    await app.settled();
  };
  const settings = (body: object) => tenant.admin.put(`${NOTIFICATIONS}/settings`, body);
  const marker = () => `capability-${randomUUID()}`;

  it('is in no event type that this file does not write', () => {
    const guarded = families.flatMap(({ definitions }) =>
      Object.entries(definitions).flatMap(([type, definition]) => ('guarded' in definition ? [type] : [])),
    );
    expect(guarded.sort(), 'show here that a new event of this type holds no credential').toEqual(WRITTEN_HERE);
  });

  it('is in no table if it is the path of the webhook, and messages go there', async () => {
    const { url, received, close } = await startWebhookReceiver();
    const secret = marker();
    await tenant.admin.put(`${NOTIFICATIONS}/webhook-secret`, { secret: webhookSecret() });
    const webhookUrl = `${url.replace(/\/$/, '')}/hooks/${secret}?key=${secret}`;
    const changed = await settings({ webhookEnabled: true, webhookUrl });
    expect([changed.status, changed.body.webhookUrl]).toEqual([200, webhookUrl]);
    expect((await tenant.admin.get(`${NOTIFICATIONS}/settings`)).body.webhookUrl).toBe(webhookUrl);
    const analyst = (await app.adminWithRole(tenant, 'analyst')).client;
    expect((await analyst.get(`${NOTIFICATIONS}/settings`)).text).not.toContain(secret);
    expect(await tablesWith(secret)).toEqual([]);

    await newAlert(app, tenant);
    await eventually(() => received[0]);

    // What is left out stays; what is replaced or removed is destroyed.
    const kept = await settings({ minSeverity: 'high' });
    expect([kept.body.webhookUrl, await secretsOf('webhookUrl', 'alertNotificationSettings')]).toEqual([webhookUrl, 1]);
    const rotated = await settings({ webhookUrl: `${webhookUrl}2` });
    expect([rotated.body.webhookUrl, await secretsOf('webhookUrl', 'alertNotificationSettings')]).toEqual([
      `${webhookUrl}2`,
      1,
    ]);
    await settings({ webhookEnabled: false, webhookUrl: null });
    expect(await secretsOf('webhookUrl', 'alertNotificationSettings')).toBe(0);
    await close();
  });

  it('is compared by If-Match, also where only the path changes', async () => {
    await settings({ webhookUrl: 'https://hooks.example/one' });
    const { headers } = await tenant.admin.get(`${NOTIFICATIONS}/settings`);
    await settings({ webhookUrl: 'https://hooks.example/two' });
    const stale = await tenant.admin.send('PUT', `${NOTIFICATIONS}/settings`, {
      body: { minSeverity: 'low' },
      headers: { 'if-match': headers.get('etag')! },
    });
    expect(stale.status).toBe(412);
    const fresh = await tenant.admin.get(`${NOTIFICATIONS}/settings`);
    const taken = await tenant.admin.send('PUT', `${NOTIFICATIONS}/settings`, {
      body: { minSeverity: 'low' },
      headers: { 'if-match': fresh.headers.get('etag')! },
    });
    expect(taken.status).toBe(200);
  });

  it('is read from an earlier event of the webhook, and the next change takes it along', async () => {
    const secret = marker();
    await run(earlierWebhook, `https://hooks.example/${secret}`);
    expect((await tenant.admin.get(`${NOTIFICATIONS}/settings`)).body.webhookUrl).toBe(
      `https://hooks.example/${secret}`,
    );
    const next = marker();
    const moved = await settings({ webhookUrl: `https://hooks.example/${next}` });
    expect(moved.body.webhookUrl).toBe(`https://hooks.example/${next}`);
    expect(await tablesWith(next)).toEqual([]);
  });

  it('is in no table if it is the address or a header of a log destination, and records go there', async () => {
    const peer = await startHttpSink();
    const [path, key, next] = [marker(), marker(), marker()];
    const config = { url: `${peer.url}/${path}`, headers: { 'x-key': key } };
    const shown = { url: config.url, headers: { 'x-key': '[concealed]' } };
    const created = await tenant.admin.post(DESTINATIONS, { name: 'SIEM', type: 'webhook', config, isEnabled: false });
    expect([created.status, created.body.config]).toMatchObject([201, shown]);
    const one = `${DESTINATIONS}/${created.body.id}`;
    const owner = `log-destination/${created.body.id}`;
    const renamed = await tenant.admin.put(one, { name: 'Renamed', config: { payload: 'array' } });
    expect([renamed.status, renamed.body.config]).toMatchObject([200, { ...shown, payload: 'array' }]);
    expect([...(await tablesWith(path)), ...(await tablesWith(key))]).toEqual([]);

    expect((await tenant.admin.post(`${one}/test`)).body).toMatchObject({ success: true });
    expect(peer.received.at(-1)).toMatchObject({ path: `/${path}`, headers: { 'x-key': key } });

    const rotated = await tenant.admin.put(one, { config: { headers: { 'x-key': next } } });
    expect(rotated.body.config).toMatchObject(shown);
    expect([await secretsOf('address', owner), ...(await tablesWith(next))]).toEqual([1]);
    await tenant.admin.post(`${one}/test`);
    expect(peer.received.at(-1)!.headers['x-key']).toBe(next);
    const listed = (await tenant.admin.get(DESTINATIONS)).body.destinations as { config: object }[];
    expect(listed[0]!.config).toEqual(rotated.body.config);
    await tenant.admin.delete(one);
    expect(await secretsOf('address', owner)).toBe(0);
    await peer.close();
  });

  it.each([
    ['splunk_hec', 'url', {}],
    ['elasticsearch', 'url', { index: 'castellan' }],
    ['s3', 'endpoint', { region: 'eu', bucket: 'acme-logs', accessKeyId: 'AKIATEST' }],
  ])('is in no table if it is in the path to %s, and records go there', async (type, field, rest) => {
    const peer = await startHttpSink();
    const [path, next] = [marker(), marker()];
    const config = { ...rest, [field]: `${peer.url}/${path}` };
    const secret = { splunk_hec: 'token', elasticsearch: 'apiKey', s3: 'secretAccessKey' }[type]!;
    const body = { name: 'SIEM', type, config: { ...config, [secret]: 'hush-hush' }, isEnabled: false };
    const created = await tenant.admin.post(DESTINATIONS, body);
    expect([created.status, created.body.config]).toMatchObject([201, config]);
    const one = `${DESTINATIONS}/${created.body.id}`;
    expect((await tenant.admin.get(one)).body.config).toMatchObject(config);
    expect(await tablesWith(path)).toEqual([]);
    await tenant.admin.post(`${one}/test`);
    expect(peer.received.at(-1)!.path).toContain(`/${path}/`);

    const kept = await tenant.admin.put(one, { name: 'Renamed' });
    expect(kept.body.config).toMatchObject(config);
    const refused = await tenant.admin.put(one, { config: { [field]: `${peer.url}/${next}` } });
    expect([refused.status, refused.body.code]).toEqual([400, 'secret_required_again']);
    const moved = await tenant.admin.put(one, { config: { [field]: `${peer.url}/${next}`, [secret]: 'hush-hush' } });
    expect([moved.status, moved.body.config[field]]).toEqual([200, `${peer.url}/${next}`]);
    expect(await tablesWith(next)).toEqual([]);
    await tenant.admin.delete(one);
    expect(await secretsOf('address', `log-destination/${created.body.id}`)).toBe(0);
    await peer.close();
  });

  it('is read from an earlier event of a log destination, and the next change takes it along', async () => {
    const peer = await startHttpSink();
    const [path, key] = [marker(), marker()];
    const destinationId = randomUUID();
    const url = `${peer.url}/${path}`;
    await run(earlierDestination, { destinationId, url, key });
    const one = `${DESTINATIONS}/${destinationId}`;
    const shown = { url, headers: { 'x-key': '[concealed]' } };
    expect((await tenant.admin.get(one)).body.config).toMatchObject(shown);
    await tenant.admin.post(`${one}/test`);
    expect(peer.received.at(-1)).toMatchObject({ path: `/${path}`, headers: { 'x-key': key } });
    const changed = await tenant.admin.put(one, { name: 'Now' });
    expect([changed.status, changed.body.config]).toMatchObject([200, shown]);
    await app.settled();
    const { rows } = await app.services.database.owner.query<{ clear: number }>(
      'select count(*)::int as clear from events where data::text like $1',
      [`%${key}%`],
    );
    expect(rows).toEqual([{ clear: 1 }]);
    await tenant.admin.post(`${one}/test`);
    expect(peer.received.at(-1)).toMatchObject({ path: `/${path}`, headers: { 'x-key': key } });
    await peer.close();
  });

  it('is missed by name if its entry in the vault is gone', async () => {
    const peer = await startHttpSink();
    const config = { url: `${peer.url}/in`, headers: {} };
    const { id } = (await tenant.admin.post(DESTINATIONS, { name: 'SIEM', type: 'webhook', config, isEnabled: false }))
      .body;
    await app.services.database.owner.query('delete from secrets where owner = $1', [`log-destination/${id}`]);
    expect((await tenant.admin.post(`${DESTINATIONS}/${id}/test`)).body).toMatchObject({
      success: false,
      message: 'the address is no longer stored',
    });
    const refused = await tenant.admin.put(`${DESTINATIONS}/${id}`, { name: 'Other' });
    expect([refused.status, refused.body.fields?.[0]?.field]).toEqual([400, 'config.url']);
    expect((await tenant.admin.put(`${DESTINATIONS}/${id}`, { config })).status).toBe(200);
    await peer.close();
  });
});
