import { randomUUID } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { raiseAlert } from '../../../../commands/alerts/raise-alert.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import { exportHits } from '../../../../queries/search/export-hits.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice } from '../../../dsl/enrolled-device.ts';

const SEARCH = '/api/v1/admin/search';

describe('search', () => {
  let app: TestApp;
  let acme: TestTenant;
  let userId: string;

  beforeAll(async () => {
    app = await startApp();
    acme = await app.newTenant();
    const created = await acme.admin.post('/api/v1/admin/users', {
      email: 'Zoe.Falcon@acme.test',
      displayName: '=HYPERLINK("x") Zoe',
    });
    userId = created.body.id;
    for (let n = 0; n < 3; n += 1)
      await acme.admin.post('/api/v1/admin/users', { email: `pilot${n}@acme.test`, displayName: `Pilot ${n} 100%_\\` });
    const device = await enrolledDevice(app, acme);
    const visit = (domain: string, title: string) => ({
      eventId: randomUUID(),
      kind: 'navigation',
      occurredAt: new Date().toISOString(),
      domain,
      url: `https://${domain}/`,
      data: { title },
    });
    await device.client.post('/api/v1/ext/events', {
      events: [visit('falcon.test', 'Home'), visit('birds.test', 'All about the Falcon')],
    });
    device.client.close();
    await raise('Falcon credentials were entered', 'Phishing pages were visited');
    await app.settled();
  });
  afterAll(() => app.close());

  async function raise(title: string, description: string, over: { userId?: string; domain?: string } = {}) {
    const alertId = randomUUID();
    const input = {
      alertId,
      alertType: 'phishing_detected' as const,
      title,
      description,
      fingerprint: alertId,
      userId: null,
      deviceId: null,
      domain: 'trap.test',
      url: null,
      cause: alertId,
      metadata: {},
      ...over,
    };
    orThrow(await app.services.executor.execute(raiseAlert, input, { tenantId: acme.tenantId, actor: system('test') }));
  }
  const find = async (query: string) => {
    const { status, body } = await acme.admin.get(`${SEARCH}?${query}`);
    expect([query, status]).toEqual([query, 200]);
    return body;
  };

  it('finds people, hosts and alerts by part of their name, grouped by kind', async () => {
    const found = await find('q=FALCON');
    expect(found).toMatchObject({
      query: 'FALCON',
      totals: { users: 1, endpoints: 2, alerts: 1 },
      total: 4,
      page: 1,
      pageSize: 20,
      totalPages: 1,
    });
    expect(found.results.users[0]).toMatchObject({ id: userId, deviceCount: 0 });
    expect(found.results.endpoints.map(({ domain }: { domain: string }) => domain).sort()).toEqual([
      'birds.test',
      'falcon.test',
    ]);
    expect(found.results.alerts[0]).toMatchObject({ title: 'Falcon credentials were entered', status: 'open' });
    expect((await find('q=falcon&type=endpoints')).totals).toEqual({ users: 0, endpoints: 2, alerts: 0 });
    expect((await find('q=lc')).totals).toMatchObject({ users: 1, endpoints: 2 });
  });

  it('matches inflected words in alerts', async () => {
    expect((await find('q=visiting%20page')).totals).toEqual({ users: 0, endpoints: 0, alerts: 1 });
  });

  it('finds alerts by their person and hosts in their own letters, and knows no operators', async () => {
    await raise('Somebody was deceived', 'On a page', { userId, domain: 'xn--bcher-kva.test' });
    await app.settled();
    for (const q of ['zoe.falcon%40acme', 'b%C3%BCcher.test', 'B%C3%BCcher', 'bcher-kva'])
      expect([q, (await find(`q=${q}&type=alerts`)).results.alerts[0]?.title]).toEqual([q, 'Somebody was deceived']);
    for (const q of ['-zzz', 'zzz%20or%20visited', '%22visited%22'])
      expect([q, (await find(`q=${q}&type=alerts`)).total]).toEqual([q, 0]);
    const exported = await acme.admin.get(`${SEARCH}/export?q=B%C3%BCcher&format=json`);
    expect(exported.body).toMatchObject([{ label: 'Somebody was deceived' }]);
  });

  it('takes characters literally, not as patterns', async () => {
    expect((await find('q=100%25_%5C')).totals.users).toBe(3);
    for (const q of ['%25%25', '__', '100_', "'%20or%20''='", '%5C%5C'])
      expect([q, (await find(`q=${q}`)).total]).toEqual([q, 0]);
    expect((await find('q=%20%20falcon%20')).query).toBe('falcon');
  });

  it('pages every kind at once', async () => {
    const second = await find('q=pilot&page=2&page_size=2');
    expect(second).toMatchObject({ totals: { users: 3 }, total: 3, page: 2, pageSize: 2, totalPages: 2 });
    expect(second.results.users).toHaveLength(1);
    expect((await find('q=pilot&page=9')).results.users).toEqual([]);
  });

  it('requires two characters and a known kind', async () => {
    for (const bad of ['', 'q=a', 'q=%20a%20', 'q=ab&type=devices', 'q=ab&page=0', `q=${'a'.repeat(201)}`]) {
      expect([bad, (await acme.admin.get(`${SEARCH}?${bad}`)).status]).toEqual([bad, 400]);
    }
  });

  it('is exported as a file in which no cell is a formula', async () => {
    const csv = await acme.admin.get(`${SEARCH}/export?q=falcon`);
    expect([csv.status, csv.headers.get('content-disposition'), csv.headers.get('content-type')]).toEqual([
      200,
      'attachment; filename="search.csv"',
      'text/csv; charset=utf-8',
    ]);
    const rows = parse(csv.text, { columns: true }) as Record<string, string>[];
    // The person's alert is found by the person's name, too.
    expect(rows).toHaveLength(5);
    expect(rows.find(({ type }) => type === 'user')).toMatchObject({
      id: userId,
      label: `'=HYPERLINK("x") Zoe`,
      detail: 'Zoe.Falcon@acme.test',
    });
    const json = await acme.admin.get(`${SEARCH}/export?q=falcon&format=json&type=alerts`);
    expect(json.body).toMatchObject([
      { type: 'alert', label: 'Somebody was deceived' },
      { type: 'alert', label: 'Falcon credentials were entered', severity: 'critical' },
    ]);
    expect((await acme.admin.get(`${SEARCH}/export?q=falcon&format=xml`)).status).toBe(400);
    const { client: viewer } = await app.adminWithRole(acme, 'viewer');
    expect((await viewer.get(`${SEARCH}?q=falcon`)).status).toBe(200);
    expect((await viewer.get(`${SEARCH}/export?q=falcon`)).status).toBe(403);
  });

  it('holds no database connection while the client of an export pauses', async () => {
    const readers = Array.from({ length: 12 }, () =>
      exportHits(app.services.reads(acme.tenantId), { q: 'falcon', type: 'all' })[Symbol.asyncIterator](),
    );
    for (const reader of readers) expect((await reader.next()).value).toMatchObject({ id: expect.any(String) });
    const { rows } = await app.services.database.owner.query(
      `select count(*)::int as idle from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
    );
    expect(rows).toEqual([{ idle: 0 }]);
    expect((await acme.admin.get(`${SEARCH}?q=falcon`)).status).toBe(200);
    for (const reader of readers) await reader.return?.(undefined);
  });

  it('is exported page by page, newest first, without duplicates', async () => {
    const ids: string[] = [];
    for await (const hit of exportHits(app.services.reads(acme.tenantId), { q: 'pilot', type: 'all' }, 2))
      ids.push(hit.id);
    const found = await find('q=pilot&type=users&page_size=100');
    expect(ids).toEqual(found.results.users.map(({ id }: { id: string }) => id));
  });

  it('finds nothing of another tenant', async () => {
    const other = await app.newTenant();
    expect((await other.admin.get(`${SEARCH}?q=falcon`)).body).toMatchObject({
      total: 0,
      results: { users: [], endpoints: [], alerts: [] },
    });
    expect((await other.admin.get(`${SEARCH}/export?q=falcon&format=json`)).body).toEqual([]);
  });

  it('finds nothing on a connection without a tenant, though it reads as the owner of the tables', async () => {
    const client = await app.services.database.reads.connect();
    try {
      const hitsOf = async (tenant: string) => {
        await client.query(`select set_config('castellan.tenant', $1, false)`, [tenant]);
        return (await client.query(`select * from search_hits('users', 'pilot', 100)`)).rowCount;
      };
      expect([await hitsOf(''), await hitsOf(acme.tenantId), await hitsOf(randomUUID())]).toEqual([0, 3, 0]);
    } finally {
      client.release();
    }
  });

  it('drops an erased person at once', async () => {
    expect((await acme.admin.delete(`/api/v1/admin/users/${userId}`)).status).toBe(204);
    expect((await find('q=zoe.falcon')).totals.users).toBe(0);
  });
});
