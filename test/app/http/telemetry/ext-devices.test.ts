import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { EVENTS, HEARTBEAT, POLICIES, now, reportingDevices } from './reporting-devices.ts';

const devices = reportingDevices();
const { newDevice } = devices;

describe('devices of extensions', () => {
  describe('heartbeats', () => {
    const sign = { extensionVersion: '2.1.0', browserVersion: '132.0', osVersion: '6.2' };

    it('update the last contact and the version of the device', async () => {
      const { client, deviceId } = await newDevice();
      const { status, body } = await client.post(HEARTBEAT, sign);
      expect([status, body]).toEqual([
        200,
        {
          serverTime: expect.any(String),
          commands: [],
          policyVersion: expect.any(String),
          nextHeartbeatSeconds: 300,
          extension: null,
        },
      ]);
      const { body: device } = await devices.acme.admin.get(`/api/v1/admin/devices/${deviceId}`);
      expect(device).toMatchObject({
        extensionVersion: '2.1.0',
        browserVersion: '132.0',
        osVersion: '6.2',
        status: 'active',
        lastSeenAt: expect.any(String),
      });
    });

    it('tell an extension with outdated policies to fetch the new ones', async () => {
      const { client } = await newDevice();
      const { policyVersion } = (await client.post(HEARTBEAT, sign)).body;
      expect((await client.post(HEARTBEAT, { ...sign, policyVersion })).body.commands).toEqual([]);
      expect((await client.post(HEARTBEAT, { ...sign, policyVersion: 'older' })).body.commands).toEqual([
        { id: expect.any(String), type: 'refresh_policies' },
      ]);
    });

    it('carry a wipe until it is done, and end with it', async () => {
      const { client, deviceId } = await newDevice();
      expect((await devices.acme.admin.put(`/api/v1/admin/devices/${deviceId}/wipe`)).status).toBe(200);
      const wipe = (await client.post(HEARTBEAT, sign)).body.commands;
      expect(wipe).toEqual([{ id: expect.any(String), type: 'wipe' }]);
      expect((await client.post(HEARTBEAT, sign)).body.commands).toEqual(wipe);
      await client.post(EVENTS, {
        events: [{ eventId: randomUUID(), kind: 'wipe_completed', occurredAt: now(), data: { wipeId: wipe[0].id } }],
      });
      await devices.app.settled();
      expect((await devices.acme.admin.get(`/api/v1/admin/devices/${deviceId}`)).body).toMatchObject({
        status: 'wiped',
        wipedAt: expect.any(String),
      });
      expect((await client.post(HEARTBEAT, sign)).status).toBe(401);
    });

    it('do not end a device without a wipe request', async () => {
      const { client, deviceId } = await newDevice();
      await client.post(EVENTS, { events: [{ eventId: randomUUID(), kind: 'wipe_completed', occurredAt: now() }] });
      await devices.app.settled();
      expect((await devices.acme.admin.get(`/api/v1/admin/devices/${deviceId}`)).body.status).toBe('active');
    });
  });

  describe('policies', () => {
    it('are the current ones of this tenant only, and change with the next poll', async () => {
      const [tenant, other] = [await devices.app.newTenant(), await devices.app.newTenant()];
      const [{ client }, { client: stranger }] = [await newDevice(tenant), await newDevice(other)];
      const before = await client.get(POLICIES);
      expect(before.status).toBe(200);
      expect(before.headers.get('content-type')).toContain('application/json');
      expect(before.headers.get('etag')).toBe(`"${before.body.policyVersion}"`);
      expect(before.body).toMatchObject({
        extensionMode: 'learning',
        policies: [],
        settings: { breachCheckEnabled: true, policyPollSeconds: 300, heartbeatSeconds: 300, screenshotEnabled: true },
      });
      expect(before.body.credentialSalt).toMatch(/^[0-9a-f]{64}$/);
      const held = { headers: { 'if-none-match': before.headers.get('etag')! } };
      const unchanged = await client.get(POLICIES, held);
      expect([unchanged.status, unchanged.text]).toEqual([304, '']);
      expect(
        (await client.get(POLICIES, { headers: { 'if-none-match': `W/"x", ${before.headers.get('etag')!}` } })).status,
      ).toBe(304);

      expect((await tenant.admin.put('/api/v1/admin/settings', { extensionMode: 'block' })).status).toBe(200);
      const rules = [{ domainMatch: { type: 'exact', value: 'evil.example' }, condition: 'any', action: 'block' }];
      expect((await tenant.admin.post('/api/v1/admin/policies', { name: 'Off', rules, isEnabled: false })).status).toBe(
        201,
      );
      expect((await tenant.admin.post('/api/v1/admin/policies', { name: 'On', rules })).status).toBe(201);
      const after = await client.get(POLICIES, held);
      expect(after.status).toBe(200);
      expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
      expect(after.body.extensionMode).toBe('block');
      expect(after.body.policies).toMatchObject([{ name: 'On', rules }]);

      const theirs = await stranger.get(POLICIES);
      expect(theirs.body).toMatchObject({ extensionMode: 'learning', policies: [] });
      expect(theirs.body.credentialSalt).not.toBe(before.body.credentialSalt);
    });

    it('are never older than an acknowledged change', async () => {
      const tenant = await devices.app.newTenant();
      const { client } = await newDevice(tenant);
      for (let n = 0; n < 20; n += 1) {
        const extensionMode = n % 2 === 0 ? 'warn' : 'block';
        const [, polled] = await Promise.all([
          tenant.admin.put('/api/v1/admin/settings', { extensionMode }),
          client.get(POLICIES),
        ]);
        expect(polled.status).toBe(200);
        expect((await client.get(POLICIES)).body.extensionMode).toBe(extensionMode);
      }
    });
  });
});
