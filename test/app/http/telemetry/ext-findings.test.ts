import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type EnrolledDevice } from '../../../dsl/enrolled-device.ts';
import { hashOf } from '../../../dsl/observations.ts';
import { EVENTS, now, seen, reportingDevices } from './reporting-devices.ts';

const devices = reportingDevices();
const { newDevice, alertsOf, credentialsOf } = devices;

describe('what extensions report', () => {
  describe('credentials of an employee', () => {
    it('are shown with their current status', async () => {
      const { client, userId } = await newDevice();
      await client.post(EVENTS, {
        events: [
          seen({ occurredAt: now(-3) }, { passwordHash: hashOf('old'), isBreached: true }),
          seen({ occurredAt: now(-2) }, { passwordHash: hashOf('both') }),
          seen(
            { occurredAt: now(-1), domain: 'mail.example', url: undefined },
            { passwordHash: hashOf('both'), username: 'kim@mail.example' },
          ),
          seen(
            { occurredAt: now(), domain: 'bank.example', url: undefined },
            { passwordHash: hashOf('own'), isBreached: true, username: null },
          ),
        ],
      });
      const { credentials, total, page, pageSize, totalPages } = await credentialsOf(userId);
      expect([total, page, pageSize, totalPages]).toEqual([3, 1, 20, 1]);
      expect(
        credentials.map((one: Record<string, unknown>) => [
          one['domain'],
          one['username'],
          one['entryCount'],
          one['isReused'],
          one['isBreached'],
        ]),
      ).toEqual([
        ['bank.example', null, 1, false, true],
        ['mail.example', 'kim@mail.example', 1, true, false],
        ['shop.example', 'kim', 2, true, false],
      ]);
      expect(credentials[2]).toMatchObject({
        url: 'https://shop.example/login',
        firstSeenAt: expect.any(String),
        lastSeenAt: expect.any(String),
      });
      expect(await credentialsOf(userId, '/stats')).toEqual({
        totalCredentials: 3,
        totalSites: 3,
        reusedCount: 2,
        breachedCount: 1,
        lastActivityAt: credentials[0].lastSeenAt,
      });
      const { reuseRecords } = await credentialsOf(userId, '/reuse-records');
      expect(reuseRecords).toEqual([
        {
          id: expect.any(String),
          domains: ['mail.example', 'shop.example'],
          domainCount: 2,
          usernames: ['kim', 'kim@mail.example'],
          firstDetectedAt: credentials[1].firstSeenAt,
          lastDetectedAt: credentials[1].lastSeenAt,
        },
      ]);
      expect((await credentialsOf(userId, '?page=2&page_size=2')).credentials).toHaveLength(1);
      expect(await credentialsOf(userId, '?page=9')).toMatchObject({ credentials: [], total: 3 });
    });

    it('are counted over the whole tenant, and isolated from every other', async () => {
      const [tenant, other] = [await devices.app.newTenant(), await devices.app.newTenant()];
      // Of two people, the one with the smaller id represents their site.
      const [one, two] = [await newDevice(tenant), await newDevice(tenant)].sort((a, b) =>
        a.userId < b.userId ? -1 : 1,
      ) as [EnrolledDevice, EnrolledDevice];
      await newDevice(other);
      await one.client.post(EVENTS, { events: [seen({}, { isBreached: true }), seen({ domain: 'mail.example' })] });
      await two.client.post(EVENTS, { events: [seen({ domain: 'mail.example' })] });
      await devices.app.settled();
      expect((await tenant.admin.get('/api/v1/admin/credential-stats')).body).toEqual({
        totalUsers: 2,
        usersWithCredentials: 2,
        totalCredentials: 3,
        totalSites: 2,
        reusedCredentials: 2,
        breachedCredentials: 2,
        usersWithReuse: 1,
        usersWithBreached: 1,
      });
      expect((await other.admin.get('/api/v1/admin/credential-stats')).body).toMatchObject({
        totalUsers: 1,
        usersWithCredentials: 0,
        totalCredentials: 0,
        totalSites: 0,
      });
      for (const rest of ['', '/stats', '/reuse-records']) {
        expect((await other.admin.get(`/api/v1/admin/users/${one.userId}/credentials${rest}`)).status).toBe(404);
      }
      const left = async ({ userId }: EnrolledDevice) => {
        expect((await tenant.admin.delete(`/api/v1/admin/users/${userId}`)).status).toBeLessThan(300);
        await devices.app.settled();
        return (await tenant.admin.get('/api/v1/admin/credential-stats')).body;
      };
      expect(await left(one)).toMatchObject({
        totalUsers: 1,
        usersWithCredentials: 1,
        totalCredentials: 1,
        totalSites: 1,
      });
      expect(await left(two)).toMatchObject({ totalUsers: 0, totalCredentials: 0, totalSites: 0 });
    });

    it('are deleted with the employee', async () => {
      const { client, userId } = await newDevice();
      await client.post(EVENTS, { events: [seen()] });
      await devices.app.settled();
      expect((await devices.acme.admin.delete(`/api/v1/admin/users/${userId}`)).status).toBe(204);
      await devices.app.settled();
      expect((await devices.acme.admin.get(`/api/v1/admin/users/${userId}/credentials`)).status).toBe(404);
      for (const table of ['credential_uses', 'credential_stats']) {
        const { rows } = await devices.app.services.database.owner.query(`select * from ${table} where user_id = $1`, [
          userId,
        ]);
        expect(rows).toEqual([]);
      }
    });
  });

  describe('alerts', () => {
    it('are raised, repeated, and raised again after being resolved', async () => {
      const { client, userId, deviceId } = await newDevice();
      const send = (hours: number) =>
        client.post(EVENTS, { events: [seen({ occurredAt: now(hours) }, { isBreached: true })] });
      await send(-2);
      await send(-1);
      const [alert, ...more] = await alertsOf(userId);
      expect(more).toEqual([]);
      expect(alert).toMatchObject({
        alertType: 'breached_password',
        severity: 'high',
        status: 'open',
        domain: 'shop.example',
        deviceId,
        occurrenceCount: 2,
      });
      expect(alert!['metadata']).toMatchObject({ extensionMode: 'learning', kind: 'credential_attempt' });
      await devices.acme.admin.put(`/api/v1/admin/alerts/${alert!['id'] as string}/resolve`, { status: 'resolved' });
      await devices.app.settled();
      await send(0);
      expect(
        (await alertsOf(userId))
          .map(({ status, occurrenceCount }) => `${status as string} ${occurrenceCount as number}`)
          .toSorted(),
      ).toEqual(['open 1', 'resolved 2']);
    });

    it('report a reused password once per site', async () => {
      const { client, userId } = await newDevice();
      await client.post(EVENTS, {
        events: [
          seen(),
          seen({ domain: 'mail.example' }),
          seen({ domain: 'mail.example' }),
          seen({ domain: 'login.mail.example' }),
        ],
      });
      const alerts = await alertsOf(userId);
      expect(alerts.map(({ alertType, domain, occurrenceCount }) => [alertType, domain, occurrenceCount])).toEqual([
        ['password_reuse', 'mail.example', 1],
      ]);
    });

    it('for a canary cookie are counted on the cookie too', async () => {
      const { client, userId } = await newDevice();
      const cookies = '/api/v1/admin/active-countermeasures/canary-cookies';
      const { body: cookie } = await devices.acme.admin.post(cookies, {
        name: `c${randomUUID()}`,
        domain: 'shop.example',
      });
      const occurredAt = now();
      const events = [0, 0].map(() => ({
        eventId: randomUUID(),
        kind: 'canary_cookie_triggered',
        occurredAt,
        domain: 'shop.example',
        data: { cookieId: cookie.id },
      }));
      await client.post(EVENTS, { events });
      await client.post(EVENTS, { events });
      expect(await alertsOf(userId)).toMatchObject([
        { alertType: 'canary_cookie_triggered', severity: 'critical', occurrenceCount: 2 },
      ]);
      const { body } = await devices.acme.admin.get(cookies);
      expect(body.canaryCookies.find(({ id }: { id: string }) => id === cookie.id)).toMatchObject({
        triggerCount: 2,
        lastTriggeredAt: events[0]!.occurredAt,
      });
    });
  });
});
