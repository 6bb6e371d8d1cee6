import { beforeAll, describe, expect, it } from 'vitest';
import { sharedApp } from '../../dsl/app.ts';
import type { Client } from '../../dsl/http-client.ts';

const METADATA = '169.254.169.254';

describe('destinations that cannot be called are named together:', () => {
  let admin: Client;
  beforeAll(async () => {
    ({ admin } = await (await sharedApp()).newTenant());
  });
  const named = ({ status, body }: { status: number; body: { fields?: { field: string }[] } }) => [
    status,
    ...(body.fields ?? []).map(({ field }) => field).sort(),
  ];

  it('webhook and mail server of notifications', async () => {
    const path = '/api/v1/admin/alert-notifications/settings';
    const away = { webhookUrl: `https://${METADATA}/`, smtpHost: METADATA };
    expect(named(await admin.put(path, away))).toEqual([400, 'smtpHost', 'webhookUrl']);
    const plain = { webhookUrl: 'http://hooks.example/', smtpPort: 0 };
    expect(named(await admin.put(path, plain))).toEqual([400, 'smtpPort', 'webhookUrl']);
  });

  it('the addresses of a directory, and what TLS asks for beside wrong fields', async () => {
    const path = '/api/v1/admin/directory-sources';
    const entra = {
      directoryId: '0198a000-0000-7000-8000-000000000000',
      clientId: '0198a000-0000-7000-8000-000000000000',
    };
    const config = { ...entra, loginUrl: `https://${METADATA}/`, graphUrl: `https://${METADATA}/` };
    const both = await admin.post(path, { type: 'entra_id', name: 'Entra', config });
    expect(named(both)).toEqual([400, 'config.graphUrl', 'config.loginUrl']);
    const okta = { type: 'okta', name: '', config: { orgUrl: 'http://acme.okta.example', apiToken: 'hush' } };
    expect(named(await admin.post(path, okta))).toEqual([400, 'config.orgUrl', 'name']);
  });

  it('the address of a log destination without TLS beside wrong fields', async () => {
    const webhook = { type: 'webhook', name: '', config: { url: 'http://logs.example' } };
    expect(named(await admin.post('/api/v1/admin/integrations/log-destinations', webhook))).toEqual([
      400,
      'config.url',
      'name',
    ]);
  });
});
