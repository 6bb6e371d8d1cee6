import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, enrollmentTokenOf, tryToEnroll } from '../../../dsl/enrolled-device.ts';

const base = '/api/v1/admin/enrollment';
const DAY = 86_400_000;

interface Token {
  readonly id: string;
  readonly status: string;
}

describe('the enrollment tokens of a tenant', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await sharedApp();
  });
  afterAll(() => app.close());
  const fresh = async () => (acme = await app.newTenant());
  const issue = async (body: object = {}) =>
    (await acme.admin.post(`${base}/token`, body)).body as { id: string; token: string; expiresAt: string };
  const listed = async (query = '') =>
    (await acme.admin.get(`${base}/tokens${query}`)).body as { tokens: Token[]; total: number; totalPages: number };
  const statuses = async () =>
    Object.fromEntries((await listed('?page_size=100')).tokens.map(({ id, status }) => [id, status]));
  const revoke = (id: string) => acme.admin.delete(`${base}/tokens/${id}`);
  const enrolls = async (token: string) => (await tryToEnroll(app, acme.tenantId, token)).status;

  it('are listed with their status, and without the tokens', async () => {
    await fresh();
    const used = await issue();
    const { deviceId, userId } = (await tryToEnroll(app, acme.tenantId, used.token)).body as {
      deviceId: string;
      userId: string;
    };
    const [waiting, bound, revoked] = [await issue(), await issue({ userId, expiresInDays: 3 }), await issue()];
    expect((await revoke(revoked.id)).status).toBe(204);
    const { text, body } = await acme.admin.get(`${base}/tokens`);
    const nothing = {
      userId: null,
      batchId: null,
      createdBy: acme.adminId,
      createdAt: expect.any(String),
      usedAt: null,
      deviceId: null,
      revokedAt: null,
      revokedBy: null,
    };
    expect(body).toEqual({
      tokens: [
        {
          ...nothing,
          id: revoked.id,
          status: 'revoked',
          expiresAt: revoked.expiresAt,
          revokedAt: expect.any(String),
          revokedBy: acme.adminId,
        },
        { ...nothing, id: bound.id, status: 'valid', expiresAt: bound.expiresAt, userId },
        { ...nothing, id: waiting.id, status: 'valid', expiresAt: waiting.expiresAt },
        { ...nothing, id: used.id, status: 'used', expiresAt: used.expiresAt, usedAt: expect.any(String), deviceId },
      ],
      total: 4,
      page: 1,
      pageSize: 20,
      totalPages: 1,
      totalIsLowerBound: false,
      nextCursor: null,
    });
    for (const { token } of [used, waiting, bound, revoked]) expect(text).not.toContain(token);
    expect((await listed('?status=valid')).tokens.map(({ id }) => id)).toEqual([bound.id, waiting.id]);
    expect((await listed(`?user_id=${userId}`)).tokens.map(({ id }) => id)).toEqual([bound.id]);
    expect(await listed('?page=2&page_size=3')).toMatchObject({ tokens: [{ id: used.id }], total: 4, totalPages: 2 });
    expect((await acme.admin.get(`${base}/tokens?status=lost`)).status).toBe(400);
    expect((await acme.admin.get('/api/v1/admin/fleet-health')).body.enrollment.pendingTokens).toBe(2);
  });

  it('enroll nobody after their revocation, which is audited', async () => {
    await fresh();
    const { id, token } = await issue();
    expect((await revoke(id)).status).toBe(204);
    expect(await tryToEnroll(app, acme.tenantId, token)).toMatchObject({
      status: 401,
      body: { error: 'invalid or expired enrollment token' },
    });
    expect((await revoke(id)).status).toBe(204);
    const { auditLogs } = (await acme.admin.get('/api/v1/admin/audit-log?action=enrollment_token.revoked')).body as {
      auditLogs: { resourceId: string }[];
    };
    expect(auditLogs.map(({ resourceId }) => resourceId)).toEqual([id]);
  });

  it('cannot be revoked after their use, or if they do not exist', async () => {
    await fresh();
    const { id, token } = await issue();
    expect(await enrolls(token)).toBe(200);
    expect(await revoke(id)).toMatchObject({ status: 409, body: { error: 'the token has been used' } });
    expect((await revoke(randomUUID())).status).toBe(404);
    const other = await app.newTenant();
    expect((await other.admin.delete(`${base}/tokens/${(await issue()).id}`)).status).toBe(404);
  });

  it('are used or revoked, whichever comes first, and never both', async () => {
    await fresh();
    const tokens = await Promise.all(Array.from({ length: 12 }, () => issue()));
    const outcomes = await Promise.all(
      tokens.map(({ id, token }) => Promise.all([enrolls(token), revoke(id).then(({ status }) => status)])),
    );
    for (const [enrollment, revocation] of outcomes)
      expect([
        [200, 409],
        [401, 204],
      ]).toContainEqual([enrollment, revocation]);
    await app.settled();
    const now = await statuses();
    expect(tokens.map(({ id }) => now[id])).toEqual(
      outcomes.map(([enrollment]) => (enrollment === 200 ? 'used' : 'revoked')),
    );
  });

  it('live as long as a bulk configuration specifies, and are revoked together by their batch', async () => {
    await fresh();
    const bulk = async (body: object) =>
      (await acme.admin.post(`${base}/bulk-config`, body)).body as {
        batchId: string;
        configs: { token: string; expiresAt: string }[];
      };
    const before = Date.now();
    const [first, second] = [await bulk({ count: 3, expiresInDays: 2 }), await bulk({ count: 2 })];
    const alone = await issue();
    const days = ({ expiresAt }: { expiresAt: string }) => Math.round((Date.parse(expiresAt) - before) / DAY);
    expect([first.configs.map(days), second.configs.map(days)]).toEqual([
      [2, 2, 2],
      [30, 30],
    ]);
    expect(await enrolls(first.configs[0]!.token)).toBe(200);
    const revoked = await acme.admin.post(`${base}/tokens/revoke`, { batchId: first.batchId });
    expect([revoked.status, revoked.body]).toEqual([200, { revoked: 2, remaining: false }]);
    expect(await Promise.all([first.configs[1]!, second.configs[0]!].map(({ token }) => enrolls(token)))).toEqual([
      401, 200,
    ]);
    expect((await listed(`?batch_id=${first.batchId}`)).tokens.map(({ status }) => status).sort()).toEqual([
      'revoked',
      'revoked',
      'used',
    ]);
    expect((await acme.admin.post(`${base}/tokens/revoke`, { all: true })).body).toEqual({
      revoked: 2,
      remaining: false,
    });
    expect([await enrolls(second.configs[1]!.token), await enrolls(alone.token)]).toEqual([401, 401]);
  });

  it.each([{}, { all: false }, { batchId: 'x' }, { all: true, batchId: randomUUID() }])(
    'are not revoked together by %j',
    async (body) => {
      await fresh();
      const token = await enrollmentTokenOf(acme);
      expect(await acme.admin.post(`${base}/tokens/revoke`, body)).toMatchObject({
        status: 400,
        body: { error: expect.stringMatching(/batchId|all/) as string },
      });
      expect(await enrolls(token)).toBe(200);
    },
  );

  it('are rejected for an invalid number of days, individually and in bulk', async () => {
    await fresh();
    for (const expiresInDays of [0, -1, 1.5, '3']) {
      for (const [path, body] of [
        ['token', {}],
        ['bulk-config', { count: 1 }],
      ] as const) {
        expect(await acme.admin.post(`${base}/${path}`, { ...body, expiresInDays })).toMatchObject({
          status: 400,
          body: { error: expect.stringContaining('expiresInDays') as string },
        });
      }
    }
    const device = await enrolledDevice(app, acme);
    device.client.close();
    expect((await listed()).total).toBe(1);
  });
});
