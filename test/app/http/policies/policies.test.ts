import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordCanaryCookieTrigger } from '../../../../commands/countermeasures/record-canary-cookie-trigger.ts';
import { extensionConfig } from '../../../../queries/policies/extension-config.ts';
import { policyView } from '../../../../queries/policies/policy-view.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';

const POLICIES = '/api/v1/admin/policies';
const rules = [
  {
    domainMatch: { type: 'wildcard', value: '*.Example.com' },
    condition: 'password_reuse',
    action: 'block',
    message: 'Not again',
  },
];

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

describe('policies', () => {
  let tenant: TestTenant;
  beforeAll(async () => {
    tenant = await app.newTenant();
  });
  const create = (over: object = {}) => tenant.admin.post(POLICIES, { name: `Policy ${randomUUID()}`, rules, ...over });

  it('are created with their defaults, read, changed in part, listed and deleted', async () => {
    const created = await create({ name: 'No reuse' });
    expect(created.status).toBe(201);
    expect(policyView.safeParse(created.body).error).toBeUndefined();
    expect(created.body).toMatchObject({
      name: 'No reuse',
      description: '',
      priority: 100,
      isEnabled: true,
      groupIds: [],
      version: 1,
      createdBy: tenant.adminId,
      rules: [{ ...rules[0], domainMatch: { type: 'wildcard', value: '*.example.com' } }],
    });
    const path = `${POLICIES}/${created.body.id}`;
    expect((await tenant.admin.get(path)).body).toEqual(created.body);

    const changed = await tenant.admin.put(path, { priority: 3, isEnabled: false, unknownField: 1 });
    expect(changed.body).toEqual({
      ...created.body,
      priority: 3,
      isEnabled: false,
      version: 2,
      updatedAt: expect.any(String),
    });
    expect((await tenant.admin.put(path, { priority: 3 })).body.version).toBe(2);

    expect((await tenant.admin.delete(path)).status).toBe(204);
    for (const again of [
      await tenant.admin.get(path),
      await tenant.admin.put(path, { priority: 4 }),
      await tenant.admin.delete(path),
    ])
      expect(again.status).toBe(404);
    expect((await create({ name: 'No reuse' })).status).toBe(201);
  });

  it('are listed in evaluation order', async () => {
    const { admin } = await app.newTenant();
    for (const [name, priority] of [
      ['last', 900],
      ['first', 0],
      ['second', 50],
      ['third', 50],
    ] as const)
      await admin.post(POLICIES, { name, priority, rules });
    const { body } = await admin.get(POLICIES);
    expect(body.total).toBe(4);
    expect(body.policies.map(({ name }: { name: string }) => name)).toEqual(['first', 'second', 'third', 'last']);
  });

  it('have case-insensitive names; another tenant may use the same', async () => {
    const { body } = await create({ name: 'Only one' });
    expect((await create({ name: 'ONLY one' })).status).toBe(409);
    const other = await create();
    expect((await tenant.admin.put(`${POLICIES}/${other.body.id}`, { name: 'only ONE' })).status).toBe(409);
    expect((await tenant.admin.put(`${POLICIES}/${body.id}`, { name: 'only ONE' })).body.name).toBe('only ONE');
    expect((await (await app.newTenant()).admin.post(POLICIES, { name: 'Only one', rules })).status).toBe(201);
    const racers = await Promise.all([create({ name: 'Contested' }), create({ name: 'contested' })]);
    expect(racers.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  it('reject invalid fields by name', async () => {
    const wrong: [object, RegExp][] = [
      [{ rules: [] }, /rules/],
      [{ rules: undefined }, /rules: is required/],
      [{ name: undefined }, /name: is required/],
      [{ priority: -1 }, /priority/],
      [{ isEnabled: 'yes' }, /isEnabled/],
      [{ rules: [{ ...rules[0], action: 'explode' }] }, /rules\.0\.action/],
      [
        { rules: [{ ...rules[0], domainMatch: { type: 'regex', value: '(a)\\1' } }] },
        /rules\.0\.domainMatch\.value: must not use backreferences/,
      ],
      [
        { rules: [{ ...rules[0], domainMatch: { type: 'regex', value: '[' } }] },
        /rules\.0\.domainMatch\.value: is not a regular expression/,
      ],
      [{ groupIds: ['x'] }, /groupIds\.0/],
      [{ groupIds: [randomUUID()] }, /groupIds: name no group/],
    ];
    for (const [over, message] of wrong) {
      const { status, body } = await create(over);
      expect([over, status, body.error]).toEqual([over, 400, expect.stringMatching(message)]);
    }
  });
});

describe('the configuration of an extension', () => {
  const configOf = async ({ tenantId }: TestTenant, groupIds: readonly string[] = []) => {
    await app.settled();
    return orThrow(await extensionConfig(app.services.reads(tenantId), { groupIds }));
  };

  it('contains the mode, its enabled policies, the scope, the whitelist and the enabled canaries', async () => {
    const tenant = await app.newTenant();
    const { admin } = tenant;
    const newGroup = async (name: string) => (await admin.post('/api/v1/admin/groups', { name })).body.id as string;
    const [mine, other] = [await newGroup('mine'), await newGroup('other')];
    await admin.put('/api/v1/admin/settings', { extensionMode: 'block', heartbeatSeconds: 60 });
    await admin.post(POLICIES, { name: 'for all', priority: 20, rules });
    await admin.post(POLICIES, { name: 'mine', priority: 10, rules, groupIds: [mine, other] });
    await admin.post(POLICIES, { name: 'of others', rules, groupIds: [other] });
    await admin.post(POLICIES, { name: 'disabled', rules, isEnabled: false });
    await admin.post('/api/v1/admin/domain-scope', { domain: 'Corp.example' });
    await admin.post('/api/v1/admin/phishing-whitelist', { domain: 'partner.example', reason: 'known' });
    const { body: canary } = await admin.post('/api/v1/admin/active-countermeasures/canary-cookies', {
      name: 'sid',
      domain: '.corp.example',
    });
    await admin.post('/api/v1/admin/active-countermeasures/canary-cookies', {
      name: 'off',
      domain: 'corp.example',
      isEnabled: false,
    });

    const config = await configOf(tenant, [mine]);
    expect(config).toMatchObject({
      extensionMode: 'block',
      domainScope: [{ domain: 'corp.example', scope: 'corporate', includeSubdomains: true }],
      phishingWhitelist: [{ domain: 'partner.example' }],
      canaryCookies: [
        {
          id: canary.id,
          name: 'sid',
          domain: 'corp.example',
          path: '/',
          value: expect.stringMatching(/^[0-9a-f]{32}$/),
        },
      ],
      settings: { heartbeatSeconds: 60, policyPollSeconds: 300, breachCheckEnabled: true, screenshotEnabled: true },
    });
    expect(config.policies.map(({ name }) => name)).toEqual(['mine', 'for all']);
    expect((await configOf(tenant)).policies.map(({ name }) => name)).toEqual(['for all']);
  });

  it('has a new version after every change to it, and after nothing else', async () => {
    const tenant = await app.newTenant();
    const { admin, tenantId } = tenant;
    const canaries = '/api/v1/admin/active-countermeasures/canary-cookies';
    const versions = [(await configOf(tenant)).policyVersion];
    const changes: (() => Promise<{ status: number; body: { id: string } }>)[] = [
      () => admin.put('/api/v1/admin/settings', { extensionMode: 'warn' }),
      () => admin.put('/api/v1/admin/settings', { breachCheckEnabled: false }),
      () => admin.post('/api/v1/admin/domain-scope', { domain: 'corp.example' }),
      () => admin.post('/api/v1/admin/phishing-whitelist', { domain: 'partner.example' }),
    ];
    const note = async () => versions.push((await configOf(tenant)).policyVersion);
    for (const change of changes) {
      expect((await change()).status).toBeLessThan(300);
      await note();
    }
    const { body: policy } = await admin.post(POLICIES, { name: 'one', rules });
    await note();
    await admin.put(`${POLICIES}/${policy.id}`, { priority: 1 });
    await note();
    await admin.delete(`${POLICIES}/${policy.id}`);
    await note();
    const { body: canary } = await admin.post(canaries, { name: 'sid', domain: 'corp.example' });
    await note();
    expect(new Set(versions).size).toBe(versions.length);

    const latest = versions.at(-1);
    await admin.put('/api/v1/admin/settings', { extensionMode: 'warn' });
    await admin.put('/api/v1/admin/settings/alert-severity', { severities: { weak_password: 'critical' } });
    const trigger = {
      cookieId: canary.id,
      triggers: [{ cause: randomUUID(), occurredAt: '2026-06-01T10:00:00.000Z' }],
    };
    orThrow(
      await app.services.executor.execute(recordCanaryCookieTrigger, trigger, { tenantId, actor: system('test') }),
    );
    await (await app.newTenant()).admin.put('/api/v1/admin/settings', { extensionMode: 'block' });
    expect((await configOf(tenant)).policyVersion).toBe(latest);
    expect((await admin.get(canaries)).body.canaryCookies).toMatchObject([
      { triggerCount: 1, lastTriggeredAt: '2026-06-01T10:00:00.000Z' },
    ]);
  });
});

describe('testing policies', () => {
  const TEST = `${POLICIES}/test`;
  let tenant: TestTenant;
  const block = (value: string, condition = 'any', action = 'block') => [
    { domainMatch: { type: 'exact', value }, condition, action },
  ];
  beforeAll(async () => {
    tenant = await app.newTenant();
    await tenant.admin.put('/api/v1/admin/settings', { extensionMode: 'warn' });
  });
  const ask = async (body: object, client = tenant.admin) => (await client.post(TEST, body)).body;

  it('returns the expected outcome, and stores nothing', async () => {
    const { body: policy } = await tenant.admin.post(POLICIES, { name: 'Evil', rules: block('evil.example') });
    const before = (await tenant.admin.get(POLICIES)).body;
    expect(await ask({ domain: 'EVIL.example.', signals: [] })).toEqual({
      matched: true,
      effectiveAction: 'block',
      policyAction: 'block',
      matchedPolicyId: policy.id,
      matchedPolicyName: 'Evil',
      matchedRuleIndex: 0,
      message: null,
      extensionMode: 'warn',
      reason: 'rule',
      trace: {
        ignoredSignals: [],
        considered: [{ policyId: policy.id, policyName: 'Evil', ruleIndex: 0, outcome: 'decided' }],
      },
    });
    expect(await ask({ domain: 'evil.example', extensionMode: 'learning' })).toMatchObject({
      effectiveAction: 'allow',
      policyAction: 'block',
      extensionMode: 'learning',
    });
    expect(await ask({ domain: 'shop.example', signals: ['weak_password'] })).toMatchObject({
      matched: false,
      effectiveAction: 'warn',
      policyAction: null,
      matchedPolicyId: null,
    });
    expect(await ask({ domain: 'shop.example', signals: ['weak_password'], extensionMode: 'block' })).toMatchObject({
      effectiveAction: 'block',
    });
    expect(await ask({ domain: 'shop.example' })).toMatchObject({ matched: false, effectiveAction: 'allow' });
    const draft = { rules: block('evil.example', 'any', 'allow'), priority: 9_999 };
    expect(await ask({ domain: 'evil.example', policy: draft })).toMatchObject({
      effectiveAction: 'allow',
      matchedPolicyId: null,
      matchedPolicyName: 'Draft',
    });
    expect(await ask({ domain: 'evil.example', policy: { ...draft, isEnabled: false } })).toMatchObject({
      effectiveAction: 'block',
      matchedPolicyId: policy.id,
    });
    expect((await tenant.admin.get(POLICIES)).body).toEqual(before);
  });

  it('respects the domain scope and the phishing whitelist', async () => {
    await tenant.admin.post('/api/v1/admin/phishing-whitelist', { domain: 'partner.example' });
    await tenant.admin.post('/api/v1/admin/domain-scope', { domain: 'intern.example', scope: 'excluded' });
    expect(await ask({ domain: 'partner.example', signals: ['phishing_signal'] })).toMatchObject({
      effectiveAction: 'allow',
      trace: { ignoredSignals: ['phishing_signal'] },
    });
    expect(await ask({ domain: 'wiki.intern.example', signals: ['weak_password'] })).toMatchObject({
      effectiveAction: 'allow',
      reason: 'excluded_domain',
    });
  });

  it.each(['..', '...', 'a..b', '-', '.', 'a.example/b'])('refuses %s, which is no host', async (domain) => {
    const refused = await tenant.admin.post(TEST, { domain });
    expect([refused.status, refused.body.error]).toEqual([400, 'validation failed: domain: must be a host name']);
  });

  it.each(['192.0.2.7', '_dmarc.a.example', 'bücher.example', 'localhost'])('takes %s', async (domain) => {
    expect((await tenant.admin.post(TEST, { domain })).status).toBe(200);
  });

  it('is open to analysts, and not to viewers', async () => {
    const [analyst, viewer] = await Promise.all([
      app.adminWithRole(tenant, 'analyst'),
      app.adminWithRole(tenant, 'viewer'),
    ]);
    expect((await analyst.client.post(TEST, { domain: 'a.example' })).status).toBe(200);
    expect((await viewer.client.post(TEST, { domain: 'a.example' })).status).toBe(403);
  });

  it.each([
    {},
    { domain: 'https://a.example/login' },
    { domain: 'a.example', signals: ['fear'] },
    { domain: 'a.example', extensionMode: 'panic' },
    { domain: 'a.example', userId: randomUUID() },
    { domain: 'a.example', userId: 'me' },
    { domain: 'a.example', policy: { rules: [] } },
    {
      domain: 'a.example',
      policy: { rules: [{ domainMatch: { type: 'regex', value: '(a)\\1' }, condition: 'any', action: 'block' }] },
    },
  ])('is rejected for %j', async (body) => {
    expect((await tenant.admin.post(TEST, body)).status).toBe(400);
  });
});

describe('unblock keys', () => {
  const KEYS = '/api/v1/admin/unblock-keys';
  const UNBLOCK = '/api/v1/ext/unblock';
  let tenant: TestTenant;
  let device: EnrolledDevice;
  beforeAll(async () => {
    tenant = await app.newTenant();
    device = await enrolledDevice(app, tenant);
  });
  afterAll(() => device.client.close());
  const newKey = async (over: object = {}) =>
    (await tenant.admin.post(KEYS, { domain: 'shop.example', reason: 'payroll', ...over })).body;
  const listed = async (id: string) =>
    (await tenant.admin.get(KEYS)).body.unblockKeys.find((one: { id: string }) => one.id === id);

  it('are refused with every id that names nothing', async () => {
    const nothing = { userId: randomUUID(), deviceId: randomUUID() };
    const { status, body } = await tenant.admin.post(KEYS, { domain: 'shop.example', reason: 'payroll', ...nothing });
    expect([status, body.fields.map(({ field }: { field: string }) => field)]).toEqual([400, ['userId', 'deviceId']]);
  });

  it('are shown once, unblock once, and report it', async () => {
    const created = await tenant.admin.post(KEYS, {
      domain: 'Shop.example',
      reason: 'payroll',
      userId: device.userId,
      deviceId: device.deviceId,
    });
    expect(created.status).toBe(201);
    const { key, ...shown } = created.body;
    expect(key).toMatch(/^[2-9A-Z]{4}-[2-9A-Z]{4}$/);
    expect(shown).toMatchObject({
      domain: 'shop.example',
      userId: device.userId,
      deviceId: device.deviceId,
      status: 'active',
      maxUses: 1,
      usedAt: null,
      createdBy: tenant.adminId,
    });
    expect(Math.abs(Date.parse(shown.expiresAt) - Date.now() - 24 * 3_600_000)).toBeLessThan(60_000);
    const list = await tenant.admin.get(KEYS);
    expect(list.text).not.toContain(key);
    expect(list.body).toMatchObject({ total: 1, unblockKeys: [{ ...shown, createdAt: expect.any(String) }] });

    const used = await device.client.post(UNBLOCK, {
      key: key.toLowerCase().replace('-', ' '),
      domain: 'shop.example',
    });
    expect([used.status, used.body]).toEqual([200, { unblocked: true, expiresAt: shown.expiresAt }]);
    const again = await device.client.post(UNBLOCK, { key, domain: 'shop.example' });
    expect([again.status, again.body]).toEqual([200, used.body]);
    const second = await enrolledDevice(app, tenant);
    expect((await second.client.post(UNBLOCK, { key, domain: 'shop.example' })).status).toBe(400);
    second.client.close();
    expect((await device.client.post(UNBLOCK, { key, domain: 'bank.example' })).status).toBe(400);
    expect(await listed(shown.id)).toMatchObject({ status: 'used', usedAt: expect.any(String) });
    const { rows } = await app.services.database.owner.query('select data from events where type like $1', [
      'UnblockKey%',
    ]);
    expect(JSON.stringify(rows)).not.toContain(key);
  });

  it('unblock for one of many devices that use them at once', async () => {
    const { key } = await newKey();
    const others = await Promise.all(Array.from({ length: 4 }, () => enrolledDevice(app, tenant)));
    const answers = await Promise.all(
      [device, ...others].map(({ client: one }) => one.post(UNBLOCK, { key, domain: 'shop.example' })),
    );
    for (const { client } of others) client.close();
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400]);
  });

  it('unblock nothing else: no other site, person, time or tenant', async () => {
    const stranger = await enrolledDevice(app, await app.newTenant());
    const second = await enrolledDevice(app, tenant);
    const wrong = [
      [device, await newKey(), 'bank.example'],
      [second, await newKey({ userId: device.userId }), 'shop.example'],
      [second, await newKey({ deviceId: device.deviceId }), 'shop.example'],
      [stranger, await newKey(), 'shop.example'],
      [device, { key: 'AAAA-AAAA' }, 'shop.example'],
    ] as const;
    for (const [who, { key }, domain] of wrong) {
      const { status, body } = await who.client.post(UNBLOCK, { key, domain });
      expect([status, body]).toEqual([400, expect.objectContaining({ error: 'validation failed: key: is not valid' })]);
    }
    for (const { client } of [stranger, second]) client.close();
  });

  it.each([
    { domain: 'co.uk' },
    { domain: 'shop.example', expiresInHours: 169 },
    { domain: 'shop.example', expiresInHours: 0 },
    { domain: 'shop.example', userId: randomUUID() },
    { domain: 'shop.example', deviceId: randomUUID() },
  ])('are not created from %j', async (body) => {
    expect((await tenant.admin.post(KEYS, body)).status).toBe(400);
  });
});
