import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { extensionChanges } from '../../../../projections/extensions/extension-changes.ts';
import { extensionInventories } from '../../../../projections/extensions/extension-inventories.ts';
import { installedExtensions } from '../../../../projections/extensions/installed-extensions.ts';
import { trimObservations } from '../../../../src/contexts/telemetry/trim-observations.ts';
import { diffModel } from '../../../../src/platform/projector/diff.ts';
import { startApp, type Client, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';

const BASE = '/api/v1/admin/extension-monitoring';
const SETTINGS = `${BASE}/settings`;
const INVENTORY = `${BASE}/inventory`;

const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
const installed = (extensionId: string, over: object = {}) => ({
  extensionId,
  name: `The ${extensionId}`,
  version: '1.0',
  publisher: 'Acme',
  permissions: ['tabs'],
  isEnabled: true,
  ...over,
});
const inventory = (minutes: number, ...extensions: object[]) => ({
  eventId: randomUUID(),
  kind: 'extension_inventory',
  occurredAt: at(minutes),
  data: { extensions },
});
const change = (minutes: number, extensionId: string, what: string, over: object = {}) => ({
  eventId: randomUUID(),
  kind: 'extension_event',
  occurredAt: at(minutes),
  data: { extensionId, change: what, ...over },
});

describe('extension monitoring', () => {
  let app: TestApp;
  const open: EnrolledDevice[] = [];
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(async () => {
    for (const { client } of open) client.close();
    await app.close();
  });

  const browserOf = async (tenant: TestTenant, over: object = {}) => {
    const device = await enrolledDevice(app, tenant, { ...over });
    open.push(device);
    return device;
  };
  const send = async ({ client }: EnrolledDevice, ...events: object[]) => {
    const answer = await client.post('/api/v1/ext/events', { events });
    expect(answer.status).toBe(202);
    await app.settled();
    return answer.body as { accepted: number; duplicates: number };
  };
  const read = async ({ admin }: { admin: Client }, path: string) => {
    const answer = await admin.get(`${BASE}/${path}`);
    expect([path, answer.status]).toEqual([path, 200]);
    return answer.body;
  };
  const alertsOf = async ({ admin }: TestTenant, type: string) =>
    (await admin.get(`/api/v1/admin/alerts?alert_type=${type}`)).body.alerts as {
      id: string;
      severity: string;
      status: string;
      occurrenceCount: number;
      deviceId: string;
      eventId: string;
      metadata: Record<string, unknown>;
    }[];

  describe('the inventory', () => {
    let acme: TestTenant;
    let chrome: EnrolledDevice;
    let edge: EnrolledDevice;
    beforeAll(async () => {
      acme = await app.newTenant();
      [chrome, edge] = [await browserOf(acme), await browserOf(acme, { browserType: 'edge' })];
    });

    it('is the current state of browsers, counted once however often and in whatever order they report', async () => {
      const [old, late] = [
        inventory(-60, installed('blocker'), installed('notes'), installed('gone')),
        inventory(-50, installed('blocker', { version: '1.9' }), installed('notes')),
      ];
      await send(chrome, late);
      await send(chrome, old);
      expect(await send(chrome, old, late)).toMatchObject({ accepted: 0, duplicates: 2 });
      await send(
        edge,
        inventory(
          -40,
          installed('blocker', { version: '1.10', name: 'Blocker', permissions: ['storage', '<all_urls>'] }),
        ),
        change(-30, 'theme', 'installed', { name: 'Dark', version: '2', permissions: [] }),
      );
      const body = await read(acme, 'inventory');
      expect(body).toMatchObject({ total: 3, page: 1, pageSize: 20, totalPages: 1 });
      expect(body.extensions).toEqual([
        {
          extensionId: 'theme',
          name: 'Dark',
          latestVersion: '2',
          publisher: null,
          permissions: [],
          riskLevel: 'low',
          installCount: 1,
          isWhitelisted: false,
          firstSeenAt: expect.any(String),
          lastSeenAt: expect.any(String),
        },
        expect.objectContaining({
          extensionId: 'blocker',
          name: 'Blocker',
          latestVersion: '1.10',
          permissions: ['<all_urls>', 'storage', 'tabs'],
          riskLevel: 'high',
          installCount: 2,
          firstSeenAt: old.occurredAt,
        }),
        expect.objectContaining({
          extensionId: 'notes',
          riskLevel: 'medium',
          installCount: 1,
          firstSeenAt: old.occurredAt,
          lastSeenAt: late.occurredAt,
        }),
      ]);
      expect(await read(acme, 'inventory/stats')).toEqual({
        total: 3,
        whitelisted: 0,
        unwhitelisted: 3,
        highRisk: 1,
        devices: 2,
      });
      expect(await read(acme, 'inventory/aggregates')).toEqual({
        byBrowser: { chrome: 2, edge: 2, firefox: 0, safari: 0, unknown: 0 },
        byRisk: { low: 1, medium: 1, high: 1 },
        byPermission: [
          { permission: 'tabs', count: 2 },
          { permission: '<all_urls>', count: 1 },
          { permission: 'storage', count: 1 },
        ],
      });
    });

    it('can be filtered and paged', async () => {
      const ids = async (query: string) =>
        (await read(acme, `inventory?${query}`)).extensions.map(
          ({ extensionId }: { extensionId: string }) => extensionId,
        ) as string[];
      expect(await ids('search=BLOCK')).toEqual(['blocker']);
      expect(await ids('search=the%20note')).toEqual(['notes']);
      expect(await ids('search=%25')).toEqual([]);
      expect(await ids('risk_level=high')).toEqual(['blocker']);
      expect(await ids('browser_type=edge')).toEqual(['theme', 'blocker']);
      expect((await read(acme, 'inventory?browser_type=edge&search=blocker')).extensions).toMatchObject([
        { installCount: 1, latestVersion: '1.10', riskLevel: 'high' },
      ]);
      expect(await ids('page=2&page_size=1')).toHaveLength(1);
      expect(await read(acme, 'inventory?page=9&page_size=2')).toEqual({
        extensions: [],
        total: 3,
        totalIsLowerBound: false,
        nextCursor: null,
        page: 9,
        pageSize: 2,
        totalPages: 2,
      });
    });

    it('shows one extension with its browsers and versions', async () => {
      const detail = await read(acme, 'extension/blocker');
      expect(detail).toMatchObject({
        extensionId: 'blocker',
        latestVersion: '1.10',
        installCount: 2,
        versions: [
          { version: '1.10', installCount: 1 },
          { version: '1.9', installCount: 1 },
        ],
      });
      expect(detail.devices).toMatchObject([
        {
          deviceId: edge.deviceId,
          userId: edge.userId,
          browserType: 'edge',
          version: '1.10',
          isEnabled: true,
          isWhitelisted: false,
        },
        { deviceId: chrome.deviceId, browserType: 'chrome', version: '1.9' },
      ]);
      for (const unknown of ['gone', 'x'.repeat(129), 'a%00b', '%0A'])
        expect((await acme.admin.get(`${BASE}/extension/${unknown}`)).status).toBe(404);
    });

    it('shows the whitelist status, browser by browser', async () => {
      const allow = (extensionId: string, browserType: string | null) =>
        acme.admin.post(`${BASE}/whitelist`, { extensionId, browserType });
      const isListed = async (id: string) => (await read(acme, `extension/${id}`)).isWhitelisted as boolean;
      const forChrome = await allow('Blocker', 'chrome');
      expect([forChrome.status, await isListed('blocker')]).toEqual([201, false]);
      expect(
        (await read(acme, 'extension/blocker')).devices.map((one: { isWhitelisted: boolean }) => one.isWhitelisted),
      ).toEqual([false, true]);
      const forEdge = await allow('blocker', 'edge');
      expect(await isListed('blocker')).toBe(true);
      expect((await read(acme, 'inventory?is_whitelisted=true')).extensions).toMatchObject([
        { extensionId: 'blocker' },
      ]);
      expect(
        (await read(acme, 'inventory/unwhitelisted')).extensions.map(
          ({ extensionId }: { extensionId: string }) => extensionId,
        ),
      ).toEqual(['theme', 'notes']);
      expect(await read(acme, 'inventory/stats')).toMatchObject({ whitelisted: 1, unwhitelisted: 2 });
      const onDevice = (await acme.admin.get(`/api/v1/admin/devices/${chrome.deviceId}/extensions`)).body.extensions;
      expect(onDevice).toMatchObject([
        { extensionId: 'blocker', isWhitelisted: true },
        { extensionId: 'notes', isWhitelisted: false },
      ]);
      for (const { body } of [forChrome, forEdge]) await acme.admin.delete(`${BASE}/whitelist/${body.id}`);
      expect(await isListed('blocker')).toBe(false);
    });

    it('lets analysts allow an extension by its identifier only, once', async () => {
      const { client: analyst } = await app.adminWithRole(acme, 'analyst');
      const added = await analyst.post(`${BASE}/whitelist/quick-add`, { extensionId: 'blocker', reason: 'reviewed' });
      expect([added.status, added.body]).toMatchObject([
        201,
        {
          extensionId: 'blocker',
          name: 'Blocker',
          publisher: 'Acme',
          browserType: null,
          reason: 'reviewed',
          createdBy: expect.any(String),
        },
      ]);
      expect((await acme.admin.get(`${BASE}/whitelist/${added.body.id}`)).body).toEqual(added.body);
      const again = await analyst.post(`${BASE}/whitelist/quick-add`, { extensionId: 'blocker' });
      const unknown = await analyst.post(`${BASE}/whitelist/quick-add`, { extensionId: 'gone' });
      expect([again.status, unknown.status]).toEqual([409, 404]);
      for (const broken of [
        {},
        { extensionId: '' },
        { extensionId: ' ' },
        { extensionId: 'a\u0001b' },
        { extensionId: 7 },
        { extensionId: 'theme', reason: 7 },
      ]) {
        expect([broken, (await analyst.post(`${BASE}/whitelist/quick-add`, broken)).status]).toEqual([broken, 400]);
      }
      const audited = (await acme.admin.get('/api/v1/admin/audit-log?page_size=100')).body.auditLogs as {
        action: string;
      }[];
      expect(audited.map(({ action }) => action)).toContain('extension_whitelist_entry.created');
    });

    it('shrinks when a browser reports a removal, is wiped or revoked, or its person is deleted', async () => {
      const counts = async () =>
        Object.fromEntries(
          (await read(acme, 'inventory')).extensions.map((one: { extensionId: string; installCount: number }) => [
            one.extensionId,
            one.installCount,
          ]),
        );
      const third = await browserOf(acme);
      await send(third, inventory(-20, installed('blocker'), installed('notes')));
      expect(await counts()).toEqual({ theme: 1, blocker: 3, notes: 2 });
      await send(chrome, change(-10, 'blocker', 'removed'));
      await send(third, inventory(-5, installed('notes')));
      expect(await counts()).toEqual({ theme: 1, blocker: 1, notes: 2 });
      await acme.admin.put(`/api/v1/admin/devices/${edge.deviceId}/revoke`);
      await app.settled();
      expect(await counts()).toEqual({ notes: 2 });
      const fourth = await browserOf(acme);
      await send(fourth, inventory(-5, installed('notes')));
      await acme.admin.put(`/api/v1/admin/devices/${fourth.deviceId}/wipe`);
      const { commands } = (await fourth.client.post('/api/v1/ext/heartbeat', { extensionVersion: '2.0.0' })).body as {
        commands: { id: string }[];
      };
      expect(await counts()).toEqual({ notes: 3 });
      await send(fourth, {
        eventId: randomUUID(),
        kind: 'wipe_completed',
        occurredAt: at(-1),
        data: { wipeId: commands[0]!.id },
      });
      expect(await counts()).toEqual({ notes: 2 });
      await acme.admin.delete(`/api/v1/admin/users/${third.userId}`);
      await app.settled();
      expect(await counts()).toEqual({ notes: 1 });
      expect((await acme.admin.get(`${BASE}/extension/blocker`)).status).toBe(404);
      expect(await read(acme, 'inventory/stats')).toMatchObject({ total: 1, devices: 1 });
    });
  });

  it('matches a recount for random browsers that report in random order', { timeout: 60_000 }, async () => {
    const tenant = await app.newTenant();
    const browsers = await Promise.all(
      [0, 1, 2, 3].map((n) => browserOf(tenant, { browserType: n % 2 ? 'firefox' : 'chrome' })),
    );
    // mulberry32: random, and the same in every run.
    let seed = 11;
    const random = (below: number) => {
      seed = (seed + 0x6d2b79f5) | 0;
      let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
    };
    const ids = Array.from({ length: 8 }, (_, n) => `ext-${n}`);
    const reports = browsers.flatMap((browser) =>
      Array.from({ length: 12 }, (_, n) => ({
        browser,
        report:
          random(3) === 0
            ? inventory(
                -100 + n,
                ...ids.filter(() => random(2)).map((one) => installed(one, { version: `1.${random(20)}` })),
              )
            : change(-100 + n, ids[random(8)]!, random(2) ? 'installed' : 'removed', { version: `2.${random(20)}` }),
      })),
    );
    const shuffled = [...reports, ...reports]
      .map((one) => ({ one, rank: random(1_000_000) }))
      .sort((a, b) => a.rank - b.rank);
    for (const { one } of shuffled) await one.browser.client.post('/api/v1/ext/events', { events: [one.report] });
    await app.settled();
    const has = new Map<string, Set<string>>(browsers.map(({ deviceId }) => [deviceId, new Set()]));
    for (const { browser, report } of reports) {
      const mine = has.get(browser.deviceId)!;
      const data = report.data as { extensions?: { extensionId: string }[]; extensionId: string; change: string };
      if (data.extensions) {
        mine.clear();
        for (const { extensionId } of data.extensions) mine.add(extensionId);
      } else if (data.change === 'removed') mine.delete(data.extensionId);
      else mine.add(data.extensionId);
    }
    const expected = ids.flatMap((one) => {
      const count = [...has.values()].filter((mine) => mine.has(one)).length;
      return count > 0 ? [[one, count]] : [];
    });
    const { extensions, total } = await read(tenant, 'inventory?page_size=100');
    expect(total).toBe(expected.length);
    expect(
      extensions
        .map((one: { extensionId: string; installCount: number }) => [one.extensionId, one.installCount])
        .toSorted(),
    ).toEqual(expected);

    // The served tables match a rebuild from everything that this file has reported so far.
    const { store, codec, database } = app.services;
    for (const model of [installedExtensions, extensionInventories, extensionChanges]) {
      const { rows, differences } = await diffModel({ store, codec, pool: database.projector }, model);
      expect([model.name, rows > 0, differences]).toEqual([model.name, true, []]);
    }
  });

  describe('events', () => {
    it('are listed latest first, with every filter, until retention removes them', async () => {
      const tenant = await app.newTenant();
      const [one, two] = [await browserOf(tenant), await browserOf(tenant)];
      const first = change(-3 * 1_440, 'notes', 'installed', { name: 'Notes', version: '1', permissions: ['tabs'] });
      await send(
        one,
        first,
        change(-20, 'notes', 'permissions_changed', { permissions: ['tabs', 'cookies'] }),
        inventory(-15, installed('notes')),
      );
      await send(two, change(-10, 'other', 'disabled'));
      const events = async (query = '') =>
        (await read(tenant, `events?${query}`)).events as {
          id: string;
          change: string;
          deviceId: string;
          extensionId: string;
        }[];
      expect((await events()).map(({ change: what, extensionId }) => [extensionId, what])).toEqual([
        ['other', 'disabled'],
        ['notes', 'permissions_changed'],
        ['notes', 'installed'],
      ]);
      expect(await events('extension_id=notes&change=installed')).toEqual([
        {
          id: first.eventId,
          extensionId: 'notes',
          name: 'Notes',
          change: 'installed',
          version: '1',
          permissions: ['tabs'],
          deviceId: one.deviceId,
          userId: one.userId,
          userEmail: expect.any(String),
          occurredAt: first.occurredAt,
          receivedAt: expect.any(String),
        },
      ]);
      expect(await events(`device_id=${two.deviceId}`)).toMatchObject([{ extensionId: 'other' }]);
      expect(await events(`user_id=${one.userId}&start_date=${at(-60)}`)).toMatchObject([
        { change: 'permissions_changed' },
      ]);
      expect(await read(tenant, 'events?page=2&page_size=2')).toMatchObject({
        total: 3,
        page: 2,
        pageSize: 2,
        totalPages: 2,
        events: [{ change: 'installed' }],
      });
      const kept = { eventRetentionDays: 2, streamRetentionDays: 365 };
      await trimObservations(app.services.database.projector, kept).handle({}, {
        signal: new AbortController().signal,
      } as never);
      expect((await events()).map(({ change: what }) => what)).toEqual(['disabled', 'permissions_changed']);
    });
  });

  describe('settings', () => {
    it('have defaults, are merged and audited, and reach browsers with a new policy version', async () => {
      const tenant = await app.newTenant();
      const { client } = await browserOf(tenant);
      const told = async () =>
        (await client.get('/api/v1/ext/policies')).body as {
          policyVersion: string;
          settings: { inventoryIntervalHours: number };
        };
      const defaults = {
        enabled: true,
        alertOnUnwhitelisted: false,
        alertOnPermissionChange: true,
        alertSeverity: null,
        inventoryIntervalHours: 24,
      };
      expect((await tenant.admin.get(SETTINGS)).body).toEqual({ ...defaults, updatedAt: null, updatedBy: null });
      const before = await told();
      const changed = await tenant.admin.put(SETTINGS, { inventoryIntervalHours: 6, alertSeverity: 'high' });
      expect([changed.status, changed.body]).toMatchObject([
        200,
        { ...defaults, inventoryIntervalHours: 6, alertSeverity: 'high', updatedBy: tenant.adminId },
      ]);
      const after = await told();
      expect([
        before.settings.inventoryIntervalHours,
        after.settings.inventoryIntervalHours,
        after.policyVersion === before.policyVersion,
      ]).toEqual([24, 6, false]);
      const audited = (await tenant.admin.get('/api/v1/admin/audit-log')).body.auditLogs as { action: string }[];
      expect(audited.map(({ action }) => action)).toContain('extension_monitoring_settings.updated');
      for (const broken of [
        { enabled: 'yes' },
        { alertSeverity: 'urgent' },
        { inventoryIntervalHours: 0 },
        { inventoryIntervalHours: 1.5 },
        { inventoryIntervalHours: 10_000 },
      ]) {
        expect([broken, (await tenant.admin.put(SETTINGS, broken)).status]).toEqual([broken, 400]);
      }
    });
  });

  describe('alerts', () => {
    it('are raised for extensions on no whitelist, once while they stay installed, if this is enabled', async () => {
      const tenant = await app.newTenant();
      const device = await browserOf(tenant);
      await send(device, inventory(-60, installed('notes')));
      expect(await alertsOf(tenant, 'unwhitelisted_extension')).toEqual([]);
      await tenant.admin.put(SETTINGS, { alertOnUnwhitelisted: true, alertSeverity: 'critical' });
      await tenant.admin.post(`${BASE}/whitelist`, { extensionId: 'allowed' });
      await tenant.admin.post(`${BASE}/whitelist`, { extensionId: 'elsewhere', browserType: 'edge' });
      const seen = inventory(
        -50,
        installed('notes', { permissions: ['cookies'] }),
        installed('allowed'),
        installed('elsewhere'),
      );
      await send(device, seen);
      await send(device, seen);
      await send(device, inventory(-40, installed('notes'), installed('allowed'), installed('elsewhere')));
      const alerts = await alertsOf(tenant, 'unwhitelisted_extension');
      expect(alerts.map(({ metadata }) => metadata['extensionId']).toSorted()).toEqual(['elsewhere', 'notes']);
      const alert = alerts.find(({ metadata }) => metadata['extensionId'] === 'notes')!;
      expect(alert).toMatchObject({
        severity: 'critical',
        status: 'open',
        occurrenceCount: 1,
        deviceId: device.deviceId,
        eventId: seen.eventId,
        metadata: {
          setting: 'alertOnUnwhitelisted',
          browserType: 'chrome',
          riskLevel: 'high',
          observationIds: [seen.eventId],
        },
      });

      // Allowing it now closes no alert; a later removal from the whitelist raises it again.
      const { body: entry } = await tenant.admin.post(`${BASE}/whitelist/quick-add`, { extensionId: 'notes' });
      await send(device, inventory(-30, installed('notes')));
      expect((await tenant.admin.get(`/api/v1/admin/alerts/${alert.id}`)).body).toMatchObject({
        status: 'open',
        occurrenceCount: 1,
      });
      await tenant.admin.delete(`${BASE}/whitelist/${entry.id}`);
      await send(device, inventory(-20, installed('notes')));
      expect((await tenant.admin.get(`/api/v1/admin/alerts/${alert.id}`)).body).toMatchObject({ occurrenceCount: 2 });
    });

    it('about permissions follow their own setting, and the severity table if the settings name no severity', async () => {
      const tenant = await app.newTenant();
      const device = await browserOf(tenant);
      const changed = (minutes: number, id: string) =>
        change(minutes, id, 'permissions_changed', { permissions: ['cookies'] });
      await tenant.admin.put(SETTINGS, { alertOnPermissionChange: false });
      await send(device, changed(-60, 'quiet'));
      await tenant.admin.put(SETTINGS, { alertOnPermissionChange: true, enabled: false });
      await send(device, changed(-50, 'quiet'));
      expect(await alertsOf(tenant, 'extension_permission_change')).toEqual([]);
      await tenant.admin.put(SETTINGS, { enabled: true });
      await tenant.admin.put('/api/v1/admin/settings/alert-severity', {
        severities: { extension_permission_change: 'low' },
      });
      const loud = changed(-40, 'loud');
      await send(device, loud);
      await send(device, loud, changed(-30, 'loud'));
      expect(await alertsOf(tenant, 'extension_permission_change')).toMatchObject([
        {
          severity: 'low',
          occurrenceCount: 2,
          metadata: { extensionId: 'loud', setting: 'alertOnPermissionChange', permissions: ['cookies'] },
        },
      ]);
    });

    it('name the discovered endpoint of their domain', async () => {
      const tenant = await app.newTenant();
      const device = await browserOf(tenant);
      const login = {
        eventId: randomUUID(),
        kind: 'credential_attempt',
        occurredAt: at(-5),
        domain: 'shop.example',
        url: 'https://shop.example/',
        data: { username: 'kim', passwordHash: 'a'.repeat(64), isBreached: true },
      };
      await send(device, login);
      const [endpoint] = (await tenant.admin.get('/api/v1/admin/endpoints')).body.endpoints as { id: string }[];
      const [alert] = (await tenant.admin.get('/api/v1/admin/alerts')).body.alerts as {
        id: string;
        endpointId: string;
      }[];
      expect([
        alert!.endpointId,
        (await tenant.admin.get(`/api/v1/admin/alerts/${alert!.id}`)).body.endpointId,
      ]).toEqual([endpoint!.id, endpoint!.id]);
    });
  });

  describe('the caller', () => {
    it('gets what the role permits, and nothing of another tenant', async () => {
      const [mine, other] = [await app.newTenant(), await app.newTenant()];
      await send(await browserOf(other), inventory(-5, installed('foreign')), change(-4, 'foreign', 'enabled'));
      expect(await read(mine, 'inventory')).toMatchObject({ extensions: [], total: 0 });
      expect(await read(mine, 'inventory/stats')).toEqual({
        total: 0,
        whitelisted: 0,
        unwhitelisted: 0,
        highRisk: 0,
        devices: 0,
      });
      expect(await read(mine, 'events')).toMatchObject({ events: [], total: 0 });
      expect((await mine.admin.get(`${BASE}/extension/foreign`)).status).toBe(404);
      expect((await mine.admin.post(`${BASE}/whitelist/quick-add`, { extensionId: 'foreign' })).status).toBe(404);
      const [viewer, analyst] = [
        (await app.adminWithRole(mine, 'viewer')).client,
        (await app.adminWithRole(mine, 'analyst')).client,
      ];
      const statuses = async (client: Client) => [
        (await client.get(INVENTORY)).status,
        (await client.put(SETTINGS, {})).status,
        (await client.post(`${BASE}/whitelist/quick-add`, { extensionId: 'x' })).status,
      ];
      expect([await statuses(viewer), await statuses(analyst)]).toEqual([
        [200, 403, 403],
        [200, 403, 404],
      ]);
    });

    it('is told what is wrong with a query', async () => {
      const { admin } = await app.newTenant();
      const broken = [
        'inventory?search=%00',
        'inventory?risk_level=extreme',
        'inventory?browser_type=opera',
        'inventory?is_whitelisted=maybe',
        'inventory?page=0',
        'inventory/unwhitelisted?risk_level=none',
        'events?change=exploded',
        'events?extension_id=a%00',
        'events?device_id=7',
        'events?start_date=2026-02-02&end_date=2026-01-01',
      ];
      for (const path of broken) expect([path, (await admin.get(`${BASE}/${path}`)).status]).toEqual([path, 400]);
    });
  });
});
