import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resources } from '../../src/contexts/resources.ts';
import { samples } from '../platform/resources/samples.ts';
import { sharedApp, type TestApp, type TestTenant } from '../dsl/app.ts';
import { everyRoute, named } from './every-route.ts';

interface Subject {
  /** The path below which the state is read and written. */
  readonly path: string;
  readonly changes: readonly [object, object];
  readonly deletes: boolean;
}

/** Settings that two people do not edit side by side, each with the reason. */
const EXEMPT: Readonly<Record<string, string>> = {
  '/api/v1/admin/settings/license': 'the key is signed by its issuer and replaces the whole license',
};

const isGuarded = (path: string): boolean =>
  /\/settings(\/|$)/.test(path) ||
  path.startsWith('/api/v1/admin/policies/') ||
  resources.some(({ declared }) => path.startsWith(declared.path));

const twins = everyRoute.filter(
  ({ method, path, access }) => method === 'GET' && access.kind !== 'device' && isGuarded(path),
);
const writes = everyRoute.filter(
  ({ method, path }) =>
    ['PUT', 'DELETE'].includes(method) && !(path in EXEMPT) && twins.some((read) => read.path === path),
);

describe('conditional writes (RFC 9110 §13.1.1)', () => {
  it('are offered for all settings, policies and declared records', () => {
    expect(writes.length).toBeGreaterThan(7);
    const reads = twins.filter(({ path }) => writes.some((write) => write.path === path));
    const missing = [...reads, ...writes].filter(({ tagged }) => !tagged).map(named);
    expect(missing, 'declare `tagged` on the route and `shown` on its command').toEqual([]);
  });

  let app: TestApp;
  let tenant: TestTenant;
  const subjects = new Map<string, Subject>();
  beforeAll(async () => {
    app = await sharedApp();
    tenant = await app.newTenant();
    // A creation has nothing to compare: it ignores the header, also one that is no tag.
    const unconditional = { headers: { 'if-match': 'x' } };
    for (const { kind, declared } of resources) {
      const { draft, change } = samples[declared.noun]!;
      if (!('verbs' in declared))
        subjects.set(declared.path, { path: declared.path, changes: [change, {}], deletes: false });
      if (kind !== 'collection' || !('verbs' in declared) || !declared.verbs.includes('read')) continue;
      const { body } = await tenant.admin.post(declared.path, draft(1), unconditional);
      subjects.set(`${declared.path}/{${declared.parameter}}`, {
        path: `${declared.path}/${body.id}`,
        changes: [change, draft(2) as object],
        deletes: declared.verbs.includes('delete'),
      });
    }
    const rules = [{ domainMatch: { type: 'exact', value: 'a.example.com' }, condition: 'any', action: 'block' }];
    const policy = await tenant.admin.post('/api/v1/admin/policies', { name: 'P', priority: 5, rules }, unconditional);
    expect(policy.status, policy.text).toBe(201);
    expect(policy.headers.get('etag')).toMatch(/^"/);
    subjects.set('/api/v1/admin/policies/{policyID}', {
      path: `/api/v1/admin/policies/${policy.body.id}`,
      changes: [{ priority: 6 }, { description: 'later' }],
      deletes: true,
    });
    subjects.set('/api/v1/admin/settings/alert-severity', {
      path: '/api/v1/admin/settings/alert-severity',
      changes: [{ severities: { password_reuse: 'low' } }, { severities: { password_reuse: 'critical' } }],
      deletes: false,
    });
    subjects.set('/api/v1/admin/settings/external-base-url', {
      path: '/api/v1/admin/settings/external-base-url',
      changes: [{ externalBaseUrl: 'https://a.example' }, { externalBaseUrl: 'https://b.example' }],
      deletes: false,
    });
    subjects.set('/api/v1/admin/alert-notifications/settings', {
      path: '/api/v1/admin/alert-notifications/settings',
      changes: [{ minSeverity: 'high', emailEnabled: true }, { minSeverity: 'low' }],
      deletes: false,
    });
    subjects.set('/api/v1/admin/threat-intel/settings', {
      path: '/api/v1/admin/threat-intel/settings',
      changes: [{ scannerEnabled: true }, { reputationEnabled: true }],
      deletes: false,
    });
  });
  afterAll(() => app.close());

  const changing = writes.filter(({ method }) => method === 'PUT').map((route) => [route.path] as const);

  it.each(changing)('PUT %s refuses a change of what was changed meanwhile', async (address) => {
    const subject = subjects.get(address);
    if (!subject) throw new Error(`add a sample of ${address} to this test`);
    const { path, changes, deletes } = subject;
    const { admin } = tenant;
    const before = await admin.get(path);
    const tag = before.headers.get('etag')!;
    expect([before.status, tag]).toEqual([200, expect.stringMatching(/^"[\w-]{22}"$/)]);
    expect((await admin.get(path, { headers: { 'if-none-match': tag } })).status).toBe(304);

    const first = await admin.put(path, changes[0], { headers: { 'if-match': `, "another",, W/${tag},` } });
    expect([first.status, first.headers.get('etag')]).toEqual([200, expect.not.stringContaining(tag)]);
    const between = await admin.get(path);
    expect(between.headers.get('etag')).toBe(first.headers.get('etag'));

    const late = await admin.put(path, changes[1], { headers: { 'if-match': tag } });
    expect([late.status, typeof late.body.error]).toEqual([412, 'string']);
    expect((await admin.get(path)).body).toEqual(between.body);

    // Nobody is forced to send the header.
    expect((await admin.put(path, changes[1])).status).toBe(200);
    for (const untagged of ['abc', '', ' , ', tag.slice(1, -1), `${tag}, abc`, `"a"b"`]) {
      const answer = await admin.put(path, changes[1], { headers: { 'if-match': untagged } });
      expect([untagged, answer.status, answer.body.fields]).toEqual([
        untagged,
        400,
        [{ field: 'If-Match', message: 'must be an ETag with its quotes, a list of them, or *' }],
      ]);
    }
    expect((await admin.put(path, changes[1], { headers: { 'if-match': '*' } })).status).toBe(200);

    if (!deletes) return;
    expect((await admin.delete(path, { headers: { 'if-match': tag } })).status).toBe(412);
    const { headers } = await admin.get(path);
    expect((await admin.delete(path, { headers: { 'if-match': headers.get('etag')! } })).status).toBe(204);
    expect((await admin.put(path, changes[0], { headers: { 'if-match': tag } })).status).toBe(404);
  });
});
