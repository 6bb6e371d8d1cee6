import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { planDelivery } from '../../commands/notifications/plan-delivery.ts';
import { startPage } from '../../commands/on-call/start-page.ts';
import { raiseAlert } from '../../commands/alerts/raise-alert.ts';
import { recordTelemetry } from '../../commands/telemetry/record-telemetry.ts';
import { system } from '../../src/platform/kernel/actor.ts';
import type { AnyCommand } from '../../src/platform/kernel/command.ts';
import { orThrow } from '../../src/platform/kernel/failure.ts';
import { startApp, type TestApp, type TestTenant } from '../dsl/app.ts';
import { enrolledDevice } from '../dsl/enrolled-device.ts';
import { hashOf, login } from '../dsl/observations.ts';
import { everyRoute, named } from './every-route.ts';

const lists = everyRoute.filter(({ query }) => query instanceof z.ZodObject && 'cursor' in query.shape);
const ofTenant = lists.filter(({ access }) => access.kind === 'admin');
const ROWS = 5;

/** Lists that nothing here fills: other tests do. */
const MAY_BE_EMPTY = new Set(['GET /api/v1/admin/verification/audit-events', 'GET /api/v1/admin/verification/alerts']);

const PAGING = new Set(['cursor', 'page', 'page_size']);

describe('a list with cursors', () => {
  let app: TestApp;
  let acme: TestTenant;
  let ids: Record<string, string> = {};
  beforeAll(async () => {
    app = await startApp();
    acme = await app.newTenant();
    const execute = async (command: AnyCommand, input: unknown) =>
      orThrow(await app.services.executor.execute(command, input, { tenantId: acme.tenantId, actor: system('test') }));
    const occurredAt = new Date().toISOString();
    const url = null;
    for (let n = 0; n < ROWS; n += 1) {
      const person = await acme.admin.post('/api/v1/admin/users', { email: `p${n}@a.example`, displayName: `P${n}` });
      await acme.admin.post('/api/v1/admin/enrollment/token', {});
      const common = () => ({ eventId: randomUUID(), occurredAt, domain: `login.host${n % 3}.example`, url });
      const everywhere = { eventId: randomUUID(), occurredAt, domain: 'idp.example', url };
      const flow = { kind: 'auth_flow', provider: null, method: 'oidc', relyingParty: null, mfaObserved: false };
      const attempt = {
        kind: 'credential_attempt',
        username: null,
        passwordHash: null,
        isBreached: false,
        policyId: null,
      };
      const visit = { kind: 'navigation', title: null, referrerDomain: null, technologies: [], isNewSite: false };
      const change = { kind: 'extension_event', extensionId: 'aaaa', change: 'updated', name: null, version: null };
      const observations = [
        { ...visit, ...common() },
        { ...attempt, ...common(), action: 'allow', userDecision: 'none' },
        { ...flow, ...common(), outcome: 'success' },
        { ...flow, ...everywhere, outcome: 'success' },
        { ...change, ...common(), permissions: null },
      ];
      const day = occurredAt.slice(0, 10);
      const sent = { deviceId: randomUUID(), userId: person.body.id, day, observations };
      const recorded = { ...sent, deviceSequence: null, extensionMode: null, policyVersion: null };
      await execute(recordTelemetry as AnyCommand, recorded);
      const alert = alertOf();
      await execute(raiseAlert as AnyCommand, alert);
      const call = { alertId: alert.alertId, eventId: randomUUID(), occurredAt, scheduleId: randomUUID() };
      const page = { ...call, escalationMinutes: 5, escalationRounds: 1, order: [], superAdmins: [] };
      await execute(startPage as AnyCommand, page);
      const subject = { kind: 'test', occurredAt };
      const message = { channel: 'webhook', recipient: { kind: 'webhook' }, subject };
      await execute(planDelivery as AnyCommand, { deliveryId: randomUUID(), ...message });
    }
    for (let n = 0; n < ROWS; n += 1) {
      const token = (await acme.admin.post('/api/v1/admin/enrollment/token', {})).body.token as string;
      const browser = { enrollmentToken: token, deviceFingerprint: `fp-${n}`, browserType: 'chrome', osType: 'linux' };
      const headers = { 'x-tenant-id': acme.tenantId };
      const versions = { browserVersion: '1', osVersion: '1', extensionVersion: '1' };
      const enrolled = await app.anonymous.post('/api/v1/enroll/certificate', { ...browser, ...versions }, { headers });
      expect(enrolled.status).toBe(200);
    }
    const userID = await oneWithPasswords(execute);
    await app.settled();
    // Attempts at deliveries are audited, too: jobs make them after the reactions.
    await vi.waitFor(
      async () => {
        const { deliveries } = await get('/api/v1/admin/alert-notifications/deliveries?page_size=100');
        expect(deliveries.filter(({ state }: { state: string }) => state === 'pending')).toEqual([]);
      },
      { timeout: 60_000, interval: 100 },
    );
    await app.settled();
    const idOf = async (path: string, list: string) =>
      ((await acme.admin.get(`/api/v1/admin/${path}`)).body[list] as { id: string; url: string }[]).find(
        ({ url: at }) => at.includes('idp.example'),
      )!.id;
    ids = {
      userID,
      endpointID: await idOf('endpoints', 'endpoints'),
      authEndpointID: await idOf('auth-endpoints', 'authEndpoints'),
    };
  });
  afterAll(() => app.close());

  /** A person in one browser, with accounts on five sites, three passwords that are used twice, and extensions. */
  async function oneWithPasswords(execute: (command: AnyCommand, input: unknown) => Promise<unknown>): Promise<string> {
    const { deviceId, userId, client } = await enrolledDevice(app, acme);
    client.close();
    const [now, at] = [Date.now(), (n: number) => new Date(now - n * 1_000).toISOString()];
    const logins = Array.from({ length: ROWS + 1 }, (_, n) =>
      // Two at the same moment: the id tells them apart.
      login({ occurredAt: at(n >> 1), domain: `site${n}.example`, passwordHash: hashOf(`password${n % 3}`) }),
    );
    const extensions = Array.from({ length: ROWS }, (_, n) => ({
      eventId: randomUUID(),
      kind: 'extension_event' as const,
      occurredAt: at(n >> 1),
      domain: null,
      url: null,
      extensionId: `extension-${n}`,
      change: 'installed' as const,
      name: `Extension ${n}`,
      version: '1',
      permissions: [],
    }));
    const sent = { deviceSequence: null, extensionMode: null, policyVersion: null, day: at(0).slice(0, 10) };
    await execute(recordTelemetry as AnyCommand, {
      ...sent,
      deviceId,
      userId,
      observations: [...logins, ...extensions],
    });
    return userId;
  }

  const alertOf = () => ({
    alertId: randomUUID(),
    alertType: 'weak_password',
    title: 'Weak',
    description: '',
    fingerprint: randomUUID(),
    userId: null,
    deviceId: null,
    domain: null,
    url: null,
    cause: randomUUID(),
    metadata: {},
  });
  const pathOf = (path: string) => path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => ids[name] ?? randomUUID());
  const get = async (path: string) => {
    const { status, body } = await acme.admin.get(path);
    expect([path, status]).toEqual([path, 200]);
    return body;
  };
  const listIn = (body: Record<string, unknown>) => Object.values(body).find(Array.isArray) as object[];

  it('is each of the large lists', () => {
    const paths = lists.map(({ path }) => path.replace(/^\/api\/v1\/(?:admin\/)?/, ''));
    for (const large of ['users/{userID}/credentials', 'extension-monitoring/inventory'])
      expect(paths).toContain(large);
    for (const large of ['alerts', 'events/navigation', 'audit-log', 'org/audit-log', 'users', 'devices', 'endpoints'])
      expect(paths).toContain(large);
  });

  it.each(ofTenant.map((route) => [named(route), route] as const))(
    '%s has the same rows by cursor as by number, each once',
    async (name, route) => {
      const path = pathOf(route.path);
      const [byNumber, byMark]: [object[], object[]] = [[], []];
      const { total, totalIsLowerBound, totalPages } = await get(`${path}?page_size=2`);
      expect(totalIsLowerBound).toBe(false);
      for (let page = 1; page <= totalPages; page += 1)
        byNumber.push(...listIn(await get(`${path}?page_size=2&page=${page}`)));
      let page = 1;
      for (let query = '?page_size=2'; ; page += 1) {
        const body = await get(`${path}${query}`);
        byMark.push(...listIn(body));
        expect(body).toMatchObject({ total, page, pageSize: 2 });
        if (body.nextCursor === null) break;
        query = `?page_size=2&cursor=${body.nextCursor}`;
      }
      expect(byMark).toEqual(byNumber);
      expect([byMark.length, new Set(byMark.map((row) => JSON.stringify(row))).size]).toEqual([total, total]);
      if (!MAY_BE_EMPTY.has(name)) expect(total).toBeGreaterThan(2);
    },
  );

  it.each(ofTenant.map((route) => [named(route), route] as const))(
    '%s refuses what is not a cursor of its own',
    async (_name, route) => {
      const path = pathOf(route.path);
      const written = (content: unknown) => Buffer.from(JSON.stringify(content)).toString('base64url');
      const bad = [
        'x',
        '%00',
        'a'.repeat(2_000),
        written(['nothing', 2, 'x']),
        written(['alerts', 2, '0000-13-45', "'; drop"]),
        written(['alerts', 0, new Date().toISOString(), randomUUID()]),
        written({ at: 1 }),
      ];
      for (const text of bad)
        expect([text, (await acme.admin.get(`${path}?cursor=${text}`)).status]).toEqual([text, 400]);
      const { nextCursor } = await get(`${path}?page_size=1`);
      if (nextCursor === null) return;
      expect((await acme.admin.get(`${path}?cursor=${nextCursor}&page=2`)).status).toBe(400);
      expect((await acme.admin.get(`${path}?cursor=${nextCursor}&page_size=3`)).status).toBe(200);
      const filter = Object.keys((route.query as z.ZodObject).shape).find((one) => !PAGING.has(one)) ?? 'unknown';
      const filtered = await acme.admin.get(`${path}?cursor=${nextCursor}&${filter}=other`);
      expect([filtered.status, filtered.body.fields[0].field]).toEqual([400, 'cursor']);
      const twice = await acme.admin.get(`${path}?cursor=x&page_size=0`);
      const wrong = (twice.body.fields as { field: string }[]).map(({ field }) => field);
      expect([twice.status, wrong.sort()]).toEqual([400, ['cursor', 'page_size']]);
    },
  );

  it('refuses the cursor of every other list', async () => {
    const cursors = new Map<string, string>();
    for (const { path } of ofTenant) {
      const { nextCursor } = await get(`${pathOf(path)}?page_size=1`);
      if (nextCursor !== null) cursors.set(path, nextCursor as string);
    }
    for (const { path } of ofTenant) {
      for (const [origin, cursor] of cursors) {
        const { status } = await acme.admin.get(`${pathOf(path)}?cursor=${cursor}`);
        expect([path, origin, status]).toEqual([path, origin, path === origin ? 200 : 400]);
      }
    }
  });

  it('continues behind a row, whatever was added before it', async () => {
    const first = await get('/api/v1/admin/alerts?page_size=2');
    const second = await get(`/api/v1/admin/alerts?page_size=2&cursor=${first.nextCursor}`);
    const added = alertOf();
    orThrow(
      await app.services.executor.execute(raiseAlert as AnyCommand, added, {
        tenantId: acme.tenantId,
        actor: system('test'),
      }),
    );
    await app.settled();
    const again = await get(`/api/v1/admin/alerts?page_size=2&cursor=${first.nextCursor}`);
    expect(again.alerts).toEqual(second.alerts);
    expect((await get('/api/v1/admin/alerts')).alerts[0].id).toBe(added.alertId);
  });
});
