import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { newLogger } from '../../../src/platform/observability/logger.ts';
import { recentLogLines } from '../../../src/platform/observability/recent-log-lines.ts';
import { startApp, type TestApp, type TestTenant } from '../../dsl/app.ts';
import { rawRequest, sendRaw } from '../../dsl/raw-http.ts';
import { enrolledDevice } from '../../dsl/enrolled-device.ts';

const ALERTS = '/api/v1/admin/alerts';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

describe('the request log', () => {
  let app: TestApp;
  let acme: TestTenant;
  const lines: Record<string, unknown>[] = [];
  beforeAll(async () => {
    const kept = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
    app = await startApp({ logLevel: 'info' }, newLogger('info', kept));
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  const linesOf = (requestId: string) =>
    lines.filter((line) => line['module'] === 'request' && line['requestId'] === requestId);
  async function lineOf(requestId: string): Promise<Record<string, unknown>> {
    await vi.waitFor(() => expect(linesOf(requestId)).toHaveLength(1), 5_000);
    return linesOf(requestId)[0]!;
  }

  it('has one line a request, with the ids that the caller sent', async () => {
    const id = randomUUID();
    const headers = { 'x-request-id': id, traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };
    const answer = await acme.admin.get(`${ALERTS}?page=1&search=private-text`, { headers });
    expect(answer.headers.get('x-request-id')).toBe(id);
    const line = await lineOf(id);
    expect(line).toMatchObject({
      method: 'GET',
      route: ALERTS,
      path: ALERTS,
      status: 200,
      traceId: TRACE,
      tenantId: acme.tenantId,
      actor: 'admin',
      actorId: acme.adminId,
    });
    expect(JSON.stringify(line)).not.toContain('private-text');
  });

  it.each([
    ['a malformed address', (id: string) => rawRequest('GET', '/%zz', `x-request-id: ${id}\r\n`), 400, '/%zz'],
    [
      'a parameter that is too long',
      (id: string) => rawRequest('GET', `${ALERTS}/${'a'.repeat(400)}`, `x-request-id: ${id}\r\n`),
      414,
      expect.stringContaining(ALERTS),
    ],
    [
      'another expectation',
      (id: string) => rawRequest('POST', ALERTS, `expect: much\r\ncontent-length: 0\r\nx-request-id: ${id}\r\n`),
      417,
      ALERTS,
    ],
    ['no HTTP', () => 'GARBAGE\r\n\r\n', 400, null],
    ['headers without end', () => rawRequest('GET', ALERTS, `x-a: ${'a'.repeat(20_000)}\r\n`), 431, ALERTS],
  ])('has one for %s, which no route sees', async (_title, bytes, status, path) => {
    const given = randomUUID();
    for (const url of [app.url, app.tlsUrl]) {
      const { headers } = await sendRaw(url, bytes(given));
      const id = headers['x-request-id']!;
      await vi.waitFor(() => expect(linesOf(id).length).toBeGreaterThan(0), 5_000);
      expect(linesOf(id).at(-1)).toMatchObject({ status, ip: expect.stringContaining('127.0.0.1') });
      if (url === app.url) expect(linesOf(id).at(-1)).toMatchObject({ path });
      if (bytes(given).includes(given)) expect(id).toBe(given);
    }
    const { text } = await app.anonymous.get('/metrics');
    expect(text).toMatch(new RegExp(`route="unknown",status="${status}"`));
  });

  it.each(['short', 'has spaces in it', 'somebody@example.com', 'x'.repeat(65), '-leading-dash', 'new\u00a0line-1234'])(
    'replaces the request id %j',
    async (given) => {
      const { headers, body } = await app.anonymous.get('/live', { headers: { 'x-request-id': given } });
      expect(body).toEqual({ status: 'alive' });
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it.each(['00-00000000000000000000000000000000-00f067aa0ba902b7-01', `00-${TRACE}-0000000000000000-01`, 'garbage'])(
    'ignores the trace %s',
    async (traceparent) => {
      const id = randomUUID();
      await app.anonymous.get(ALERTS, { headers: { 'x-request-id': id, traceparent } });
      expect(await lineOf(id)).not.toHaveProperty('traceId');
    },
  );

  it('shows a refused sign-in and an unknown address, without what was typed', async () => {
    const [refused, unknown] = [randomUUID(), randomUUID()];
    const typed = { email: acme.email, password: 'Wrong-Password-1!' };
    await app.anonymous.post('/api/v1/auth/login', typed, {
      headers: { 'x-request-id': refused, 'x-tenant-id': acme.tenantId },
    });
    await app.anonymous.get(`/nowhere?code=${'s3cret'.repeat(3)}`, { headers: { 'x-request-id': unknown } });
    const line = await lineOf(refused);
    expect(line).toMatchObject({ route: '/api/v1/auth/login', status: 401, ip: '127.0.0.1' });
    expect(JSON.stringify(line)).not.toMatch(/Wrong-Password|owner@/);
    expect(await lineOf(unknown)).toMatchObject({ route: null, path: '/nowhere', status: 404 });
  });

  it('has no address of a device', async () => {
    const { client, deviceId } = await enrolledDevice(app, acme);
    const id = randomUUID();
    await client.get('/api/v1/ext/policies', { headers: { 'x-request-id': id } });
    client.close();
    const line = await lineOf(id);
    expect(line).toMatchObject({ actor: 'device', actorId: deviceId, tenantId: acme.tenantId });
    expect(line).not.toHaveProperty('ip');
  });

  it('has no probes, and does not push other lines out of support bundles', async () => {
    const id = randomUUID();
    await app.anonymous.get('/live', { headers: { 'x-request-id': id } });
    await app.anonymous.get(ALERTS, { headers: { 'x-request-id': `${id}-2` } });
    await lineOf(`${id}-2`);
    expect(linesOf(id)).toEqual([]);
    expect(recentLogLines.all.some((line) => line.includes(id))).toBe(false);
  });

  it('correlates the events of a request', async () => {
    const id = `deploy-${randomUUID()}`;
    const created = await acme.admin.post(
      '/api/v1/admin/groups',
      { name: 'Traced' },
      { headers: { 'x-request-id': id } },
    );
    expect(created.status).toBe(201);
    const { rows } = await app.services.database.owner.query<{ found: string }>(
      `select metadata->>'correlationId' as found from events where type = 'GroupCreated'`,
    );
    expect(rows.map(({ found }) => found)).toContain(id);
  });
});
