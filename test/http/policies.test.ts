import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordCanaryCookieTrigger } from '../../commands/countermeasures/record-canary-cookie-trigger.ts';
import { extensionConfig } from '../../queries/extension/extension-config.ts';
import { policyView } from '../../queries/policies/policy-view.ts';
import { system } from '../../src/kernel/actor.ts';
import { orThrow } from '../../src/kernel/failure.ts';
import { startApp, type TestApp, type TestTenant } from '../dsl/app.ts';

const POLICIES = '/api/v1/admin/policies';
const rules = [{ domainMatch: { type: 'wildcard', value: '*.Example.com' }, condition: 'password_reuse', action: 'block', message: 'Not again' }];

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
    expect(changed.body).toEqual({ ...created.body, priority: 3, isEnabled: false, version: 2, updatedAt: expect.any(String) });
    expect((await tenant.admin.put(path, { priority: 3 })).body.version).toBe(2);

    expect((await tenant.admin.delete(path)).status).toBe(204);
    for (const again of [await tenant.admin.get(path), await tenant.admin.put(path, { priority: 4 }), await tenant.admin.delete(path)]) expect(again.status).toBe(404);
    expect((await create({ name: 'No reuse' })).status).toBe(201);
  });

  it('are listed in the order in which they are evaluated', async () => {
    const { admin } = await app.newTenant();
    for (const [name, priority] of [['last', 900], ['first', 0], ['second', 50], ['third', 50]] as const) await admin.post(POLICIES, { name, priority, rules });
    const { body } = await admin.get(POLICIES);
    expect(body.total).toBe(4);
    expect(body.policies.map(({ name }: { name: string }) => name)).toEqual(['first', 'second', 'third', 'last']);
  });

  it('have names that are told apart without case; another tenant may use the same', async () => {
    const { body } = await create({ name: 'Only one' });
    expect((await create({ name: 'ONLY one' })).status).toBe(409);
    const other = await create();
    expect((await tenant.admin.put(`${POLICIES}/${other.body.id}`, { name: 'only ONE' })).status).toBe(409);
    expect((await tenant.admin.put(`${POLICIES}/${body.id}`, { name: 'only ONE' })).body.name).toBe('only ONE');
    expect((await (await app.newTenant()).admin.post(POLICIES, { name: 'Only one', rules })).status).toBe(201);
    const racers = await Promise.all([create({ name: 'Contested' }), create({ name: 'contested' })]);
    expect(racers.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  it('refuse what is no policy, and name the field', async () => {
    const wrong: [object, RegExp][] = [
      [{ rules: [] }, /rules/],
      [{ rules: undefined }, /rules: is required/],
      [{ name: undefined }, /name: is required/],
      [{ priority: -1 }, /priority/],
      [{ isEnabled: 'yes' }, /isEnabled/],
      [{ rules: [{ ...rules[0], action: 'explode' }] }, /rules\.0\.action/],
      [{ rules: [{ ...rules[0], domainMatch: { type: 'regex', value: '(a)\\1' } }] }, /rules\.0\.domainMatch\.value: must not refer back to a group/],
      [{ rules: [{ ...rules[0], domainMatch: { type: 'regex', value: '[' } }] }, /rules\.0\.domainMatch\.value: is not a regular expression/],
      [{ groupIds: ['x'] }, /groupIds\.0/],
    ];
    for (const [over, message] of wrong) {
      const { status, body } = await create(over);
      expect([over, status, body.error]).toEqual([over, 400, expect.stringMatching(message)]);
    }
  });
});

describe('what an extension is told', () => {
  const configOf = async ({ tenantId }: TestTenant, groupIds: readonly string[] = []) => {
    await app.settled();
    return orThrow(await extensionConfig(app.services.reads(tenantId), { groupIds }));
  };

  it('is the mode, the enabled policies that reach it, the scope, the whitelist and the enabled canaries', async () => {
    const tenant = await app.newTenant();
    const { admin } = tenant;
    const [mine, other] = [randomUUID(), randomUUID()];
    await admin.put('/api/v1/admin/settings', { extensionMode: 'block', heartbeatSeconds: 60 });
    await admin.post(POLICIES, { name: 'for all', priority: 20, rules });
    await admin.post(POLICIES, { name: 'mine', priority: 10, rules, groupIds: [mine, other] });
    await admin.post(POLICIES, { name: 'of others', rules, groupIds: [other] });
    await admin.post(POLICIES, { name: 'disabled', rules, isEnabled: false });
    await admin.post('/api/v1/admin/domain-scope', { domain: 'Corp.example' });
    await admin.post('/api/v1/admin/phishing-whitelist', { domain: 'partner.example', reason: 'known' });
    const { body: canary } = await admin.post('/api/v1/admin/active-countermeasures/canary-cookies', { name: 'sid', domain: '.corp.example' });
    await admin.post('/api/v1/admin/active-countermeasures/canary-cookies', { name: 'off', domain: 'corp.example', isEnabled: false });

    const config = await configOf(tenant, [mine]);
    expect(config).toMatchObject({
      extensionMode: 'block',
      domainScope: [{ domain: 'corp.example', scope: 'corporate', includeSubdomains: true }],
      phishingWhitelist: [{ domain: 'partner.example' }],
      canaryCookies: [{ id: canary.id, name: 'sid', domain: 'corp.example', path: '/', value: expect.stringMatching(/^[0-9a-f]{32}$/) }],
      settings: { heartbeatSeconds: 60, policyPollSeconds: 300, breachCheckEnabled: true, screenshotEnabled: true },
    });
    expect(config.policies.map(({ name }) => name)).toEqual(['mine', 'for all']);
    expect((await configOf(tenant)).policies.map(({ name }) => name)).toEqual(['for all']);
  });

  it('has another version after every change of it, and after nothing else', async () => {
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
    const trigger = { cookieId: canary.id, cause: randomUUID(), occurredAt: '2026-06-01T10:00:00.000Z' };
    orThrow(await app.services.executor.execute(recordCanaryCookieTrigger, trigger, { tenantId, actor: system('test') }));
    await (await app.newTenant()).admin.put('/api/v1/admin/settings', { extensionMode: 'block' });
    expect((await configOf(tenant)).policyVersion).toBe(latest);
    expect((await admin.get(canaries)).body.canaryCookies).toMatchObject([{ triggerCount: 1, lastTriggeredAt: '2026-06-01T10:00:00.000Z' }]);
  });
});
