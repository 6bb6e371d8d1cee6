import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { extensionChanges } from '../../../../projections/extensions/extension-changes.ts';
import { extensionInventories } from '../../../../projections/extensions/extension-inventories.ts';
import { installedExtensions } from '../../../../projections/extensions/installed-extensions.ts';
import { diffModel } from '../../../../src/platform/projector/diff.ts';
import { type TestTenant } from '../../../dsl/app.ts';
import { type EnrolledDevice } from '../../../dsl/enrolled-device.ts';
import { BASE, at, installed, inventory, change, monitoredBrowsers } from './monitored-browsers.ts';

const monitored = monitoredBrowsers();
const { browserOf, send, read } = monitored;

describe('the inventory of extensions', () => {
  describe('the inventory', () => {
    let acme: TestTenant;
    let chrome: EnrolledDevice;
    let edge: EnrolledDevice;
    beforeAll(async () => {
      acme = await monitored.app.newTenant();
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
      const { client: analyst } = await monitored.app.adminWithRole(acme, 'analyst');
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
      await monitored.app.settled();
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
      await monitored.app.settled();
      expect(await counts()).toEqual({ notes: 1 });
      expect((await acme.admin.get(`${BASE}/extension/blocker`)).status).toBe(404);
      expect(await read(acme, 'inventory/stats')).toMatchObject({ total: 1, devices: 1 });
    });
  });

  it('matches a recount for random browsers that report in random order', { timeout: 60_000 }, async () => {
    const tenant = await monitored.app.newTenant();
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
    await monitored.app.settled();
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
    const { store, codec, database } = monitored.app.services;
    for (const model of [installedExtensions, extensionInventories, extensionChanges]) {
      const { rows, differences } = await diffModel({ store, codec, pool: database.projector }, model);
      expect([model.name, rows > 0, differences]).toEqual([model.name, true, []]);
    }
  });
});
