import { randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { hashOf } from '../../../dsl/observations.ts';
import { EVENTS, HEARTBEAT, POLICIES, now, seen, reportingDevices } from './reporting-devices.ts';

const devices = reportingDevices();
const { newDevice, alertsOf, credentialsOf } = devices;

describe('extensions over mTLS', () => {
  it('are refused without a certificate', async () => {
    for (const answer of await Promise.all([
      devices.app.anonymous.post(EVENTS, { events: [seen()] }),
      devices.app.anonymous.post(HEARTBEAT, {}),
      devices.app.anonymous.get(POLICIES),
    ])) {
      expect([answer.status, answer.body]).toEqual([
        401,
        expect.objectContaining({ error: 'authentication required' }),
      ]);
    }
  });

  it('receive a cached configuration as long as nothing changes', async () => {
    const { client } = await newDevice(await devices.app.newTenant());
    await devices.app.settled();
    expect((await client.get(POLICIES)).status).toBe(200);
    const made = vi.spyOn(devices.app.services.bundleSigner, 'sign');
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
      const others = Array.from({ length: 4 }, () => devices.app.device(certificatePem, privateKeyPem));
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
      const { client } = await newDevice();
      expect((await client.post(EVENTS, body)).status).toBe(400);
    });

    it('is rejected above one megabyte', async () => {
      const { client } = await newDevice();
      expect((await client.post(EVENTS, { events: [seen({ url: 'x'.repeat(1_100_000) })] })).status).toBe(413);
    });

    it('stores nothing personal readable in the log, and all of it for authorized readers', async () => {
      const { client, userId } = await newDevice();
      const url = `https://shop.example/${randomUUID()}`;
      await client.post(EVENTS, {
        events: [seen({ url }, { username: 'kim.secret@acme.example', passwordHash: hashOf('sealed') })],
      });
      const { rows } = await devices.app.services.database.owner.query<{ data: unknown }>(
        `select data from events where type = 'TelemetryRecorded'`,
      );
      expect(rows.length).toBeGreaterThan(0);
      expect(JSON.stringify(rows)).not.toMatch(new RegExp(`kim\\.secret|${url}|${hashOf('sealed')}`));
      expect((await credentialsOf(userId)).credentials).toMatchObject([{ username: 'kim.secret@acme.example', url }]);
    });

    it('leaves the log after its retention', async () => {
      const { client, deviceId } = await newDevice();
      await client.post(EVENTS, { events: [seen()] });
      const { rows } = await devices.app.services.database.owner.query(
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

  describe('numbered batches of a device', () => {
    const telemetryOf = async (deviceId: string) => {
      await devices.app.settled();
      return (await devices.acme.admin.get(`/api/v1/admin/devices/${deviceId}`)).body.telemetry;
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
      const { rows } = await devices.app.services.database.owner.query(
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
      const { rows } = await devices.app.services.database.owner.query('select data from events');
      expect(JSON.stringify(rows)).not.toMatch(/hunter[234]/);
    });
  });
});
