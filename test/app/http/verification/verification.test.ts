import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';

const BASE = '/api/v1/admin/verification';

describe('verifying an employee over the telephone', () => {
  let app: TestApp;
  let tenant: TestTenant;
  const open: EnrolledDevice[] = [];
  beforeAll(async () => {
    app = await sharedApp();
    tenant = await app.newTenant();
  });
  afterAll(async () => {
    for (const { client } of open) client.close();
    await app.close();
  });

  const someone = async (of = tenant) => {
    const device = await enrolledDevice(app, of);
    open.push(device);
    const codes = async () =>
      (await device.client.get('/api/v1/ext/verification/code')).body as {
        dailyCode: string;
        otp: string;
        expiresAt: string;
      };
    return { userId: device.userId, codes };
  };
  const verify = (method: 'daily-code' | 'otp', userId: string, code: string, by = tenant) =>
    by.admin.post(`${BASE}/${method}/verify`, { userId, code });
  const wrongFor = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

  it('accepts the code that the browser shows, and records the verification', async () => {
    const { userId, codes } = await someone();
    const { dailyCode, otp, expiresAt } = await codes();
    expect([dailyCode, otp]).toEqual([expect.stringMatching(/^\d{6}$/), expect.stringMatching(/^\d{6}$/)]);
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now() - 1_000);
    const answer = await verify('daily-code', userId, dailyCode);
    expect([answer.status, answer.body]).toEqual([
      200,
      { valid: true, userId, displayName: expect.any(String), method: 'daily_code', verifiedAt: expect.any(String) },
    ]);
    // The daily code is valid all day.
    const again = (await verify('daily-code', userId, dailyCode)).body as { valid: boolean; verifiedAt: string };
    expect(again.valid).toBe(true);
    const events = (await tenant.admin.get(`${BASE}/audit-events`)).body.events as object[];
    expect(events.filter((event) => JSON.stringify(event).includes(userId))).toHaveLength(2);
    expect(JSON.stringify(events)).not.toContain(dailyCode);
    const users = (await tenant.admin.get(`${BASE}/users`)).body.users as {
      id: string;
      lastVerifiedAt: string | null;
    }[];
    expect(users.find(({ id }) => id === userId)?.lastVerifiedAt).toBe(again.verifiedAt);
  });

  it('accepts a one-time code once for two hundred concurrent attempts', { timeout: 30_000 }, async () => {
    const { userId, codes } = await someone();
    const { otp } = await codes();
    const answers = await Promise.all(Array.from({ length: 200 }, () => verify('otp', userId, otp)));
    expect(answers.filter(({ status, body }) => status === 200 && body.valid)).toHaveLength(1);
    expect(answers.every(({ status }) => [200, 409, 429, 503].includes(status))).toBe(true);
  });

  it('checks five wrong codes, then none for a while, and raises an alert that can be read', async () => {
    const { userId, codes } = await someone();
    const { dailyCode } = await codes();
    for (let n = 0; n < 5; n += 1)
      expect((await verify('daily-code', userId, wrongFor(dailyCode))).body).toMatchObject({
        valid: false,
        verifiedAt: null,
      });
    const refused = await verify('daily-code', userId, dailyCode);
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
    const alerts = (await tenant.admin.get(`${BASE}/alerts`)).body.alerts as { id: string; userId: string }[];
    const alert = alerts.find((one) => one.userId === userId)!;
    expect(alert).toMatchObject({ type: 'repeated_failures', isRead: false });
    const read = await tenant.admin.put(`${BASE}/alerts/${alert.id}/read`);
    expect([read.status, read.body.id, read.body.isRead]).toEqual([200, alert.id, true]);
    expect((await tenant.admin.put(`${BASE}/alerts/${randomUUID()}/read`)).status).toBe(404);
    await app.settled();
    const raised = (await tenant.admin.get('/api/v1/admin/alerts?alert_type=verification_failed')).body.alerts as {
      userId: string;
    }[];
    expect(raised.filter((one) => one.userId === userId)).toMatchObject([
      { severity: 'low', status: 'open', metadata: { verificationAlertId: alert.id, failures: 5 } },
    ]);
  });

  it('pages employees and alerts', async () => {
    const other = await app.newTenant();
    const people = [await someone(other), await someone(other), await someone(other)];
    for (const { userId, codes } of people.slice(1)) {
      const code = wrongFor((await codes()).dailyCode);
      for (let n = 0; n < 5; n += 1) await verify('daily-code', userId, code, other);
    }
    await app.settled();
    for (const [list, total] of [
      ['users', 3],
      ['alerts', 2],
    ] as const) {
      const pages = await Promise.all(
        [1, 2].map(async (page) => (await other.admin.get(`${BASE}/${list}?page=${page}&page_size=${total - 1}`)).body),
      );
      expect(pages).toMatchObject([1, 2].map((page) => ({ total, page, pageSize: total - 1, totalPages: 2 })));
      expect(new Set(pages.flatMap((page) => page[list].map(({ id }: { id: string }) => id))).size).toBe(total);
      expect((await other.admin.get(`${BASE}/${list}?page=0`)).status).toBe(400);
    }
  });

  it('finds nobody of another tenant', async () => {
    const { userId, codes } = await someone();
    const other = await app.newTenant();
    expect((await verify('daily-code', userId, (await codes()).dailyCode, other)).status).toBe(404);
  });

  it('names the invalid field of a request', async () => {
    const { userId } = await someone();
    expect([(await verify('otp', userId, '12345')).status, (await verify('otp', userId, '12345')).body.error]).toEqual([
      400,
      expect.stringContaining('code'),
    ]);
    expect((await verify('otp', randomUUID(), '123456')).status).toBe(404);
  });
});
