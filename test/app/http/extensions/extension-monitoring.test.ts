import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { trimObservations } from '../../../../src/contexts/telemetry/trim-observations.ts';
import { type Client } from '../../../dsl/app.ts';
import {
  BASE,
  SETTINGS,
  INVENTORY,
  at,
  installed,
  inventory,
  change,
  monitoredBrowsers,
} from './monitored-browsers.ts';

const monitored = monitoredBrowsers();
const { browserOf, send, read, alertsOf } = monitored;

describe('extension monitoring', () => {
  describe('events', () => {
    it('are listed latest first, with every filter, until retention removes them', async () => {
      const tenant = await monitored.app.newTenant();
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
      await trimObservations(monitored.app.services.database.projector, kept).handle({}, {
        signal: new AbortController().signal,
      } as never);
      expect((await events()).map(({ change: what }) => what)).toEqual(['disabled', 'permissions_changed']);
    });
  });

  describe('settings', () => {
    it('have defaults, are merged and audited, and reach browsers with a new policy version', async () => {
      const tenant = await monitored.app.newTenant();
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
      const tenant = await monitored.app.newTenant();
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
      const tenant = await monitored.app.newTenant();
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
      const tenant = await monitored.app.newTenant();
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
      const [mine, other] = [await monitored.app.newTenant(), await monitored.app.newTenant()];
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
        (await monitored.app.adminWithRole(mine, 'viewer')).client,
        (await monitored.app.adminWithRole(mine, 'analyst')).client,
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
      const { admin } = await monitored.app.newTenant();
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
