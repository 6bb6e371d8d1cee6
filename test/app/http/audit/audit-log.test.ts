import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { personKey } from '../../../../src/platform/vault/vault.ts';
import { HeadSealer } from '../../../../src/contexts/audit/head-sealer.ts';
import { auditRecordView } from '../../../../queries/audit/audit-log-view.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';

const PATH = '/api/v1/admin/audit-log';
interface Item {
  id: string;
  sequence: number;
  timestamp: string;
  actorEmail: string | null;
  action: string;
  resourceType: string;
  resourceId: string;
  details: Record<string, unknown>;
  previousHash: string;
  hash: string;
}

let app: TestApp;
let tenant: TestTenant;
let acted: { adminId: string; client: TestTenant['admin'] };
const owner = (sql: string, values: unknown[]) => app.services.database.owner.query(sql, values);

beforeAll(async () => {
  app = await startApp();
  tenant = await app.newTenant({ name: 'Acme' });
  const policy = {
    name: '=HYPERLINK("http://evil.example")',
    description: 'd',
    priority: 1,
    isEnabled: true,
    rules: [{ domainMatch: { type: 'exact', value: 'bank.example' }, condition: 'any', action: 'warn' }],
    groupIds: [],
  };
  for (let n = 0; n < 3; n += 1)
    expect((await tenant.admin.post('/api/v1/admin/policies', { ...policy, name: `${policy.name}${n}` })).status).toBe(
      201,
    );
  acted = await app.adminWithRole(tenant, 'analyst');
  await app.settled();
});
afterAll(() => app?.close());

describe('a field that a role may not see', () => {
  it('is in no audit entry and in no export', async () => {
    const made = (
      await tenant.admin.post('/api/v1/admin/active-countermeasures/canary-cookies', {
        name: 'sid',
        domain: 'bank.example',
      })
    ).body;
    expect(made.value).toMatch(/^[0-9a-f]{16,}$/);
    await app.settled();
    const { client: viewer } = await app.adminWithRole(tenant, 'viewer');
    for (const client of [tenant.admin, viewer]) {
      for (const path of [`${PATH}?page_size=100`, `${PATH}/export?format=json`, `${PATH}/export?format=csv`]) {
        const { status, text } = await client.get(path);
        if (status === 403) continue;
        expect([path, text.includes('canary_cookie.created'), text.includes(made.value)]).toEqual([path, true, false]);
        expect(text).toContain('[concealed]');
      }
    }
  });
});

describe('GET /audit-log', () => {
  // Alerts that follow from a decision are decisions themselves.
  beforeEach(() => app.settled());

  it('lists who decided what, newest first, as a chain', async () => {
    const { status, body } = await tenant.admin.get(`${PATH}?page_size=100`);
    expect(status).toBe(200);
    const items = body.auditLogs as Item[];
    expect([body.total, body.page, body.pageSize, body.totalPages]).toEqual([items.length, 1, 100, 1]);
    for (const item of items) expect(Object.keys(auditRecordView.parse(item)).sort()).toEqual(Object.keys(item).sort());
    expect(items.map(({ sequence }) => sequence)).toEqual(items.map((_, index) => items.length - index));
    for (const [index, item] of items.slice(0, -1).entries()) expect(item.previousHash).toBe(items[index + 1]!.hash);
    expect(items.at(-1)!.previousHash).toBe('0'.repeat(64));
    const created = items.find(({ action }) => action === 'policy.created')!;
    expect(created).toMatchObject({
      actorType: 'admin',
      actorId: tenant.adminId,
      actorEmail: tenant.email,
      resourceType: 'policy',
      ipAddress: '127.0.0.1',
      userAgent: 'node',
    });
  });

  it('pages', async () => {
    const all = (await tenant.admin.get(`${PATH}?page_size=100`)).body.auditLogs as Item[];
    const { body } = await tenant.admin.get(`${PATH}?page=2&page_size=2`);
    expect(body.auditLogs).toEqual(all.slice(2, 4));
    expect([body.total, body.totalPages]).toEqual([all.length, Math.ceil(all.length / 2)]);
  });

  it('filters by actor, action, resource type and time', async () => {
    const all = (await tenant.admin.get(`${PATH}?page_size=100`)).body.auditLogs as (Item & { actorId: string })[];
    const found = async (query: string) => {
      const { body } = await tenant.admin.get(`${PATH}?page_size=100&${query}`);
      expect(body.total).toBe(body.auditLogs.length);
      return (body.auditLogs as Item[]).map(({ id }) => id);
    };
    const ids = (keep: (item: (typeof all)[number]) => boolean) => all.filter(keep).map(({ id }) => id);
    const middle = all[2]!.timestamp;
    expect(await found(`actor_id=${tenant.adminId}`)).toEqual(ids(({ actorId }) => actorId === tenant.adminId));
    expect(await found('action=policy.created')).toHaveLength(3);
    expect(await found('resource_type=admin_user')).toEqual(ids(({ resourceType }) => resourceType === 'admin_user'));
    // Each kind of resource has one spelling in responses. Filters accept the one that older entries were listed with.
    expect(all.filter(({ resourceType }) => !/^[a-z]+(_[a-z]+)*$/.test(resourceType))).toEqual([]);
    expect(await found(`start_date=${middle}`)).toEqual(ids(({ timestamp }) => timestamp >= middle));
    expect(await found(`end_date=${middle}&action=policy.created`)).toEqual(
      ids(({ timestamp, action }) => timestamp <= middle && action === 'policy.created'),
    );
    expect(await found('action=nothing.of.the.kind')).toEqual([]);
    expect((await tenant.admin.get(`${PATH}?start_date=2026-02-02&end_date=2026-02-01`)).status).toBe(400);
    await tenant.admin.put('/api/v1/admin/settings', { learningThreshold: 17 });
    await app.settled();
    const settings = await found('resource_type=tenant_settings');
    expect(settings).toHaveLength(1);
    expect(await found('resource_type=tenantSettings')).toEqual(settings);
  });

  it('shows nothing of another tenant', async () => {
    const other = await app.newTenant();
    await app.settled();
    const theirs = (await other.admin.get(`${PATH}?page_size=100`)).body.auditLogs as Item[];
    const ours = (await tenant.admin.get(`${PATH}?page_size=100`)).body.auditLogs as Item[];
    expect(theirs.length).toBeGreaterThan(0);
    expect(theirs.filter(({ id }) => ours.some((item) => item.id === id))).toEqual([]);
  });

  it('shows personal data until the person is erased, and "[erased]" afterwards; the chain stays valid', async () => {
    const entry = async () =>
      ((await tenant.admin.get(`${PATH}?page_size=100`)).body.auditLogs as Item[]).find(
        ({ action, resourceId }) => action === 'admin_user.created' && resourceId === acted.adminId,
      )!;
    const before = await entry();
    expect(before.details).toMatchObject({
      adminId: acted.adminId,
      displayName: 'analyst',
      email: expect.stringContaining('@admins.example') as string,
    });
    expect(before.details).not.toHaveProperty('$sealed');
    await app.services.personKeys.destroy(tenant.tenantId, acted.adminId);
    const after = await entry();
    expect(after).toEqual({ ...before, details: { ...before.details, displayName: '[erased]', email: '[erased]' } });
    expect((await tenant.admin.get(`${PATH}/verify`)).body).toMatchObject({ valid: true });
    expect(personKey({ tenantId: tenant.tenantId, personId: acted.adminId })).toContain(acted.adminId);
  });

  it('lists an entry that was made unreadable', async () => {
    const change = (details: string) =>
      owner(
        `update audit_log set details = $2 where tenant_id = $1 and sequence = 2 and position > 0 returning details`,
        [tenant.tenantId, details],
      );
    const { rows } = await owner(
      `select details from audit_log where tenant_id = $1 and sequence = 2 and position > 0`,
      [tenant.tenantId],
    );
    const broken = [
      '{',
      'null',
      '{"$sealed":{"person":"x","value":"x"},"email":"[sealed]"}',
      `{"$sealed":{"person":"${tenant.adminId}","value":"AAAA"},"email":"[sealed]"}`,
    ];
    for (const details of broken) {
      await change(details);
      const { status, body } = await tenant.admin.get(`${PATH}?page_size=100`);
      expect([status, (body.auditLogs as Item[]).some(({ sequence }) => sequence === 2)]).toEqual([200, true]);
    }
    await change((rows[0] as { details: string }).details);
  });
});

describe('GET /audit-log/export', () => {
  const ordered = async () => ((await tenant.admin.get(`${PATH}?page_size=100`)).body.auditLogs as Item[]).toReversed();

  it('returns everything as JSON, oldest first, as an attachment', async () => {
    const { status, headers, body } = await tenant.admin.get(`${PATH}/export`);
    expect([status, headers.get('content-type'), headers.get('content-disposition')]).toEqual([
      200,
      'application/json; charset=utf-8',
      'attachment; filename="audit-log.json"',
    ]);
    expect(body).toEqual(await ordered());
    expect((await tenant.admin.get(`${PATH}/export?action=nothing`)).body).toEqual([]);
  });

  it('returns the same as CSV, in which no cell is a formula', async () => {
    const { headers, text } = await tenant.admin.get(`${PATH}/export?format=csv&action=policy.created`);
    expect([headers.get('content-type'), headers.get('content-disposition')]).toEqual([
      'text/csv; charset=utf-8',
      'attachment; filename="audit-log.csv"',
    ]);
    const [head, ...rows] = text.trim().split('\n');
    expect(head).toBe(
      'sequence,timestamp,actorType,actorId,actorEmail,action,resourceType,resourceId,details,ipAddress,userAgent,id,previousHash,hash',
    );
    expect(rows).toHaveLength(3);
    expect(rows[0]).toContain('policy.created');
    await owner(
      `update audit_log set user_agent = '=1+1' where tenant_id = $1 and position > 0 and action = 'policy.created'`,
      [tenant.tenantId],
    );
    expect((await tenant.admin.get(`${PATH}/export?format=csv&action=policy.created`)).text).toContain(`,'=1+1,`);
    await owner(
      `update audit_log set user_agent = 'node' where tenant_id = $1 and position > 0 and action = 'policy.created'`,
      [tenant.tenantId],
    );
  });

  it('contains the whole log, however many pages that takes', async () => {
    const rows = 1_234;
    await owner(
      `insert into audit_log select tenant_id, position + 1000000 * n, sequence, hash, previous_hash, event_id, recorded_at, actor_type, actor_id, 'test.filler', resource_type, resource_id, details, event, ip_address, user_agent
         from audit_log, generate_series(1, $2) n where tenant_id = $1 and sequence = 1 and position > 0`,
      [tenant.tenantId, rows],
    );
    const { body } = await tenant.admin.get(`${PATH}/export?action=test.filler`);
    expect((body as Item[]).length).toBe(rows);
    await owner(`delete from audit_log where tenant_id = $1 and action = 'test.filler'`, [tenant.tenantId]);
  });
});

describe('GET /audit-log/verify', () => {
  const verify = async () => (await tenant.admin.get(`${PATH}/verify`)).body;

  it('reports a valid chain, and after a change the first invalid entry, with 200 both times', async () => {
    await new HeadSealer(app.services).sealAll();
    const { status, body } = await tenant.admin.get(`${PATH}/verify`);
    const { total } = (await tenant.admin.get(PATH)).body;
    expect([status, body]).toEqual([
      200,
      {
        valid: true,
        entriesChecked: total,
        firstInvalidSequence: null,
        reason: null,
        verifiedAt: expect.any(String) as string,
      },
    ]);
    await owner(`update audit_log set actor_id = 'nobody' where tenant_id = $1 and sequence = 3 and position > 0`, [
      tenant.tenantId,
    ]);
    expect(await verify()).toMatchObject({
      valid: false,
      entriesChecked: 2,
      firstInvalidSequence: 3,
      reason: 'entry_changed',
    });
    await owner(`update audit_log set actor_id = $2 where tenant_id = $1 and sequence = 3 and position > 0`, [
      tenant.tenantId,
      null,
    ]);
  });

  it('covers the latest decision', async () => {
    const { rows } = await owner(
      `select actor_id from audit_log where tenant_id = $1 and sequence = 4 and position > 0`,
      [tenant.tenantId],
    );
    await owner(`update audit_log set actor_id = $2 where tenant_id = $1 and sequence = 3 and position > 0`, [
      tenant.tenantId,
      (rows[0] as { actor_id: string | null }).actor_id,
    ]);
    for (let n = 0; n < 5; n += 1) {
      await tenant.admin.post('/api/v1/admin/policies', {
        name: `quick ${n}`,
        description: '',
        priority: 1,
        isEnabled: true,
        rules: [{ domainMatch: { type: 'exact', value: 'bank.example' }, condition: 'any', action: 'warn' }],
        groupIds: [],
      });
      const verdict = await verify();
      expect([verdict.reason, verdict.entriesChecked >= n]).toEqual([
        verdict.reason === 'entry_changed' && verdict.firstInvalidSequence === 3 ? 'entry_changed' : null,
        true,
      ]);
    }
  });
});

describe('the roles', () => {
  it.each([
    ['super_admin', 200, 200, 200],
    ['admin', 200, 200, 200],
    ['analyst', 200, 403, 200],
    ['viewer', 403, 403, 403],
  ] as const)('%s', async (role, list, exported, verified) => {
    const { client } = await app.adminWithRole(tenant, role);
    expect([
      (await client.get(PATH)).status,
      (await client.get(`${PATH}/export`)).status,
      (await client.get(`${PATH}/verify`)).status,
    ]).toEqual([list, exported, verified]);
  });
});
