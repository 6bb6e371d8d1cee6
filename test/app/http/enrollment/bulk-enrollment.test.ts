import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { tryToEnroll } from '../../../dsl/enrolled-device.ts';
import { unzipped } from '../../../dsl/unzipped.ts';

const path = '/api/v1/admin/enrollment/bulk-config';

describe('bulk enrollment over HTTP', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await sharedApp();
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  it('returns the requested number of configurations, each with a working token', async () => {
    const { status, body } = await acme.admin.post(path, { count: 3 });
    expect(status).toBe(200);
    expect(body.total).toBe(3);
    expect(new Set(body.configs.map(({ token }: { token: string }) => token)).size).toBe(3);
    for (const { token, tenantId, apiEndpoint, expiresAt } of body.configs) {
      expect({ tenantId, apiEndpoint }).toEqual({
        tenantId: acme.tenantId,
        apiEndpoint: 'https://devices.castellan.example',
      });
      expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now());
      expect((await tryToEnroll(app, tenantId, token)).status).toBe(200);
    }
  });

  it('returns a thousand at once', async () => {
    const { status, body } = await acme.admin.post(path, { count: 1_000, format: 'json' });
    expect(status).toBe(200);
    expect(new Set(body.configs.map(({ token }: { token: string }) => token)).size).toBe(1_000);
    expect((await tryToEnroll(app, acme.tenantId, body.configs[999].token)).status).toBe(200);
  });

  it('returns a zip with a file for each', async () => {
    const answer = await fetch(app.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${acme.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ count: 12, format: 'zip' }),
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/zip');
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="[\w-]+\.zip"$/);
    const files = unzipped(Buffer.from(await answer.arrayBuffer()));
    expect([...files.keys()]).toEqual(
      Array.from({ length: 12 }, (_, index) => `config-${String(index + 1).padStart(3, '0')}.json`),
    );
    const { token, tenantId } = JSON.parse(files.get('config-012.json')!.toString()) as {
      token: string;
      tenantId: string;
    };
    expect((await tryToEnroll(app, tenantId, token)).status).toBe(200);
  });

  it.each([
    {},
    { count: 0 },
    { count: 1_001 },
    { count: 1.5 },
    { count: '3' },
    { count: 1, format: 'xml' },
    { count: 1, format: 'ZIP' },
  ])('rejects %j', async (body) => {
    expect((await acme.admin.post(path, body)).status).toBe(400);
  });

  it('returns the same tokens for a repeated request, in a new archive', async () => {
    const headers = { 'idempotency-key': 'bulk-1' };
    const first = await acme.admin.post(path, { count: 2 }, { headers });
    expect((await acme.admin.post(path, { count: 2 }, { headers })).body).toEqual(first.body);
    const zipped = { headers: { 'idempotency-key': 'bulk-2' } };
    expect((await acme.admin.post(path, { count: 1, format: 'zip' }, zipped)).status).toBe(200);
    expect((await acme.admin.post(path, { count: 1, format: 'zip' }, zipped)).status).toBe(200);
  });
});
