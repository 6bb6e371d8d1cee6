import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';
import { hashOf, reportedLogin } from '../../../dsl/observations.ts';

const EVENTS = '/api/v1/ext/events';
const HEARTBEAT = '/api/v1/ext/heartbeat';
const POLICIES = '/api/v1/ext/policies';
const now = (hours = 0) => new Date(Date.now() + hours * 3_600_000).toISOString();
const seen = (over: Record<string, unknown> = {}, data: Record<string, unknown> = {}) =>
  reportedLogin({ occurredAt: now(), ...over }, data);

describe('extensions over mTLS', () => {
  let app: TestApp;
  let acme: TestTenant;
  const open: EnrolledDevice[] = [];
  const newDevice = async (tenant = acme) => {
    const device = await enrolledDevice(app, tenant);
    open.push(device);
    return device;
  };
  beforeAll(async () => {
    app = await startApp();
    acme = await app.newTenant();
  });
  afterAll(async () => {
    for (const { client } of open) client.close();
    await app.close();
  });

  const alertsOf = async (userId: string, tenant = acme) => {
    await app.settled();
    const { body } = await tenant.admin.get('/api/v1/admin/alerts?page_size=100');
    return (body.alerts as Record<string, unknown>[]).filter((alert) => alert['userId'] === userId);
  };
  const credentialsOf = async (userId: string, rest = '') => {
    await app.settled();
    return (await acme.admin.get(`/api/v1/admin/users/${userId}/credentials${rest}`)).body;
  };

  it('are refused without a certificate', async () => {
    for (const answer of await Promise.all([
      app.anonymous.post(EVENTS, { events: [seen()] }),
      app.anonymous.post(HEARTBEAT, {}),
      app.anonymous.get(POLICIES),
    ])) {
      expect([answer.status, answer.body]).toEqual([
        401,
        expect.objectContaining({ error: 'authentication required' }),
      ]);
    }
  });

  it('receive a cached configuration as long as nothing changes', async () => {
    const { client } = await newDevice(await app.newTenant());
    await app.settled();
    expect((await client.get(POLICIES)).status).toBe(200);
    const made = vi.spyOn(app.services.bundleSigner, 'sign');
    for (let n = 0; n < 5; n += 1) expect((await client.get(POLICIES)).status).toBe(200);
    expect(made).not.toHaveBeenCalled();
    made.mockRestore();
  });

  describe('telemetry', () => {
    it('is accepted once, however often it is sent', async () => {
      const { client } = await newDevice();
      const events = [seen(), seen({ occurredAt: now(-30) }), seen()];
      const first = await client.post(EVENTS, { deviceSequence: 1, events });
      expect([first.status, first.body]).toEqual([202, { accepted: 3, duplicates: 0, rejected: [] }]);
      const again = await client.post(EVENTS, { deviceSequence: 1, events: [...events].reverse() });
      expect([again.status, again.body]).toEqual([202, { accepted: 0, duplicates: 3, rejected: [] }]);
      const overlapping = await client.post(EVENTS, { events: [events[1], seen(), events[0]] });
      expect(overlapping.body).toEqual({ accepted: 1, duplicates: 2, rejected: [] });
    });

    it('is counted once when the same batch arrives many times at once', async () => {
      const { client, userId, certificatePem, privateKeyPem } = await newDevice();
      const others = Array.from({ length: 4 }, () => app.device(certificatePem, privateKeyPem));
      const events = Array.from({ length: 50 }, () => seen());
      const answers = await Promise.all(
        [client, ...others].flatMap((one) => [
          one.post(EVENTS, { events }),
          one.post(EVENTS, { events: events.slice(10) }),
        ]),
      );
      for (const other of others) other.close();
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
      expect(answers.reduce((sum, { body }) => sum + body.accepted, 0)).toBe(50);
      expect((await credentialsOf(userId)).credentials).toMatchObject([
        { domain: 'shop.example', username: 'kim', entryCount: 50 },
      ]);
    });

    it('loses only the invalid items', async () => {
      const { client, userId } = await newDevice();
      const late = seen({ occurredAt: now(25) });
      const secret = seen({}, { password: 'hunter2' });
      const { status, body } = await client.post(EVENTS, { events: [seen(), late, { eventId: 'x' }, secret] });
      expect(status).toBe(202);
      expect(body).toEqual({
        accepted: 1,
        duplicates: 0,
        rejected: [
          {
            index: 1,
            eventId: late.eventId,
            error: 'validation failed: occurredAt: must not be more than 24 hours ahead',
            code: 'clock_ahead',
            field: 'occurredAt',
          },
          {
            index: 2,
            eventId: null,
            error: expect.stringMatching(/^validation failed: kind: must be one of navigation, /) as string,
            code: 'validation_failed',
            field: 'kind',
          },
          {
            index: 3,
            eventId: secret.eventId,
            error: 'validation failed: data.password: must not be sent',
            code: 'secret_field',
            field: 'data.password',
          },
        ],
      });
      expect((await credentialsOf(userId)).total).toBe(1);
    });

    it('loses only the items with broken text, and reports any id as it was sent', async () => {
      const { client } = await newDevice();
      const broken = ['a\0b', 'a\ud83d'].map((title) => ({
        eventId: '11111111-1111-1111-1111-111111111111',
        kind: 'navigation',
        occurredAt: now(),
        data: { title },
      }));
      const { status, body } = await client.post(EVENTS, { events: [seen(), ...broken, seen()] });
      expect([status, body.accepted]).toEqual([202, 2]);
      expect(body.rejected).toMatchObject(
        [1, 2].map((index) => ({ index, eventId: broken[0]!.eventId, code: 'broken_text', field: 'data.title' })),
      );
    });

    it.each([
      ['no events', { events: [] }],
      ['501 events', { events: Array.from({ length: 501 }, () => ({})) }],
      ['no list', { events: {} }],
      ['nothing', {}],
      ['a sequence that is none', { deviceSequence: -1, events: [{}] }],
    ])('is rejected as a whole with %s', async (_what, body) => {
      const { client } = open[0]!;
      expect((await client.post(EVENTS, body)).status).toBe(400);
    });

    it('is rejected above one megabyte', async () => {
      const { client } = open[0]!;
      expect((await client.post(EVENTS, { events: [seen({ url: 'x'.repeat(1_100_000) })] })).status).toBe(413);
    });

    it('stores nothing personal readable in the log, and all of it for authorized readers', async () => {
      const { client, userId } = await newDevice();
      const url = `https://shop.example/${randomUUID()}`;
      await client.post(EVENTS, {
        events: [seen({ url }, { username: 'kim.secret@acme.example', passwordHash: hashOf('sealed') })],
      });
      const { rows } = await app.services.database.owner.query<{ data: unknown }>(
        `select data from events where type = 'TelemetryRecorded'`,
      );
      expect(rows.length).toBeGreaterThan(0);
      expect(JSON.stringify(rows)).not.toMatch(new RegExp(`kim\\.secret|${url}|${hashOf('sealed')}`));
      expect((await credentialsOf(userId)).credentials).toMatchObject([{ username: 'kim.secret@acme.example', url }]);
    });

    it('leaves the log after its retention', async () => {
      const { client, deviceId } = await newDevice();
      await client.post(EVENTS, { events: [seen()] });
      const { rows } = await app.services.database.owner.query(
        'select max_age_days from stream_retention where stream like $1',
        [`%${deviceId}%`],
      );
      expect(rows).toEqual([{ max_age_days: 365 }]);
    });

    it('accepts a batch whose sealed form exceeds the size limit of an event', async () => {
      const { client, userId } = await newDevice();
      const events = Array.from({ length: 440 }, () => seen({ url: `https://shop.example/${'a'.repeat(1_900)}` }));
      expect((await client.post(EVENTS, { events })).body).toEqual({ accepted: 440, duplicates: 0, rejected: [] });
      expect((await credentialsOf(userId)).credentials).toMatchObject([{ entryCount: 440 }]);
    });
  });

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
      const [tenant, other] = [await app.newTenant(), await app.newTenant()];
      // Of two people, the one with the smaller id represents their site.
      const [one, two] = [await newDevice(tenant), await newDevice(tenant)].sort((a, b) =>
        a.userId < b.userId ? -1 : 1,
      ) as [EnrolledDevice, EnrolledDevice];
      await newDevice(other);
      await one.client.post(EVENTS, { events: [seen({}, { isBreached: true }), seen({ domain: 'mail.example' })] });
      await two.client.post(EVENTS, { events: [seen({ domain: 'mail.example' })] });
      await app.settled();
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
        await app.settled();
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
      await app.settled();
      expect((await acme.admin.delete(`/api/v1/admin/users/${userId}`)).status).toBe(204);
      await app.settled();
      expect((await acme.admin.get(`/api/v1/admin/users/${userId}/credentials`)).status).toBe(404);
      for (const table of ['credential_uses', 'credential_stats']) {
        const { rows } = await app.services.database.owner.query(`select * from ${table} where user_id = $1`, [userId]);
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
      await acme.admin.put(`/api/v1/admin/alerts/${alert!['id'] as string}/resolve`, { status: 'resolved' });
      await app.settled();
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
      const { body: cookie } = await acme.admin.post(cookies, { name: `c${randomUUID()}`, domain: 'shop.example' });
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
      const { body } = await acme.admin.get(cookies);
      expect(body.canaryCookies.find(({ id }: { id: string }) => id === cookie.id)).toMatchObject({
        triggerCount: 2,
        lastTriggeredAt: events[0]!.occurredAt,
      });
    });
  });

  describe('numbered batches of a device', () => {
    const telemetryOf = async (deviceId: string) => {
      await app.settled();
      return (await acme.admin.get(`/api/v1/admin/devices/${deviceId}`)).body.telemetry;
    };

    it('show their gaps, and close them when they arrive late, also without new items', async () => {
      const { client, deviceId } = await newDevice();
      const send = (deviceSequence: number, events: unknown[] = [seen()]) =>
        client.post(EVENTS, { deviceSequence, events });
      const first = [seen()];
      await send(7, first);
      await send(8);
      await send(12);
      expect(await telemetryOf(deviceId)).toEqual({ lastSequence: 12, missingBatches: 3, missing: [[9, 11]] });
      await send(10);
      expect(await telemetryOf(deviceId)).toEqual({
        lastSequence: 12,
        missingBatches: 2,
        missing: [
          [9, 9],
          [11, 11],
        ],
      });
      await send(9, first);
      await send(11, [{ eventId: 'none' }]);
      for (let n = 0; n < 3; n += 1) await send(11, [{ eventId: 'none' }]);
      expect(await telemetryOf(deviceId)).toEqual({ lastSequence: 12, missingBatches: 0, missing: [] });
      const { rows } = await app.services.database.owner.query(
        `select count(*)::int as n from events where type = 'TelemetryRefused' and data->>'deviceId' = $1`,
        [deviceId],
      );
      expect(rows).toEqual([{ n: 2 }]);
    });
  });

  describe('secrets in telemetry', () => {
    it('are rejected, stored nowhere, and raise one alert however often they are sent', async () => {
      const { client, userId, deviceId } = await newDevice();
      const bad = () => seen({}, { userPassword: 'hunter2-hunter2', hunter3_token: 'hunter4' });
      for (let n = 0; n < 3; n += 1)
        expect((await client.post(EVENTS, { events: [seen(), bad(), bad()] })).body).toMatchObject({
          accepted: 1,
          rejected: [{ index: 1 }, { index: 2 }],
        });
      const alerts = (await alertsOf(userId)).filter(({ alertType }) => alertType === 'policy_violation');
      expect(alerts).toMatchObject([
        {
          deviceId,
          occurrenceCount: 1,
          metadata: { kind: 'secret_in_telemetry', secretWords: ['password'], extensionMode: 'learning' },
        },
      ]);
      const { rows } = await app.services.database.owner.query('select data from events');
      expect(JSON.stringify(rows)).not.toMatch(/hunter[234]/);
    });
  });

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
      const { body: device } = await acme.admin.get(`/api/v1/admin/devices/${deviceId}`);
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
      expect((await acme.admin.put(`/api/v1/admin/devices/${deviceId}/wipe`)).status).toBe(200);
      const wipe = (await client.post(HEARTBEAT, sign)).body.commands;
      expect(wipe).toEqual([{ id: expect.any(String), type: 'wipe' }]);
      expect((await client.post(HEARTBEAT, sign)).body.commands).toEqual(wipe);
      await client.post(EVENTS, {
        events: [{ eventId: randomUUID(), kind: 'wipe_completed', occurredAt: now(), data: { wipeId: wipe[0].id } }],
      });
      await app.settled();
      expect((await acme.admin.get(`/api/v1/admin/devices/${deviceId}`)).body).toMatchObject({
        status: 'wiped',
        wipedAt: expect.any(String),
      });
      expect((await client.post(HEARTBEAT, sign)).status).toBe(401);
    });

    it('do not end a device without a wipe request', async () => {
      const { client, deviceId } = await newDevice();
      await client.post(EVENTS, { events: [{ eventId: randomUUID(), kind: 'wipe_completed', occurredAt: now() }] });
      await app.settled();
      expect((await acme.admin.get(`/api/v1/admin/devices/${deviceId}`)).body.status).toBe('active');
    });
  });

  describe('policies', () => {
    it('are the current ones of this tenant only, and change with the next poll', async () => {
      const [tenant, other] = [await app.newTenant(), await app.newTenant()];
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
      const tenant = await app.newTenant();
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
