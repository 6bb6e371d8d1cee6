import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PASSWORD, sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { unavailableOnce } from '../../../dsl/unavailable-once.ts';
import { challenge, codeOf, login, proofOf, secondFactorOf, verify } from '../../../dsl/second-factor.ts';

const MFA = '/api/v1/admin/mfa';
const ME = '/api/v1/admin/me';
const statuses = (answers: readonly { status: number }[], status: number) =>
  answers.filter((answer) => answer.status === status).length;
const times = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

describe('the second factor', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await sharedApp();
  });
  afterAll(() => app.close());

  const attemptsOf = async ({ tenantId }: TestTenant): Promise<number> => {
    const { rows } = await app.services.database.owner.query<{ n: number }>(
      `select count(*)::int as n from events where type = 'LoginAttempted' and tenant_id = $1`,
      [tenantId],
    );
    return rows[0]!.n;
  };

  it('is set up with a code of the secret, and is off until then', async () => {
    const { admin } = await app.newTenant();
    const off = { enabled: false, backupCodesRemaining: 0, enabledAt: null };
    expect((await admin.get(`${MFA}/status`)).body).toEqual(off);
    expect((await admin.post(`${MFA}/setup/verify`, { code: '000000' })).status).toBe(409);
    const setup = await admin.post(`${MFA}/setup`);
    expect(setup.body).toEqual({
      secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
      otpauthUrl: expect.stringMatching(/^otpauth:\/\/totp\//),
      qrCode: expect.stringMatching(/^data:image\/png;base64,/),
    });
    const wrong = await admin.post(`${MFA}/setup/verify`, { code: await codeOf(setup.body.secret, 5) });
    expect([wrong.status, wrong.body.error]).toEqual([400, 'validation failed: code: is not the current code']);
    expect((await admin.get(`${MFA}/status`)).body).toEqual(off);
    const code = await codeOf(setup.body.secret);
    const answers = await times(20, () => admin.post(`${MFA}/setup/verify`, { code }));
    expect([statuses(answers, 200), statuses(answers, 409)]).toEqual([1, 19]);
    const { body } = answers.find(({ status }) => status === 200)!;
    expect(body).toEqual({
      enabled: true,
      backupCodes: Array.from({ length: 10 }, () => expect.stringMatching(/^[A-Z0-9]{5}-[A-Z0-9]{5}$/)),
    });
    expect((await admin.get(`${MFA}/status`)).body).toEqual({
      enabled: true,
      backupCodesRemaining: 10,
      enabledAt: expect.any(String),
    });
    expect((await admin.get(ME)).body.mfaEnabled).toBe(true);
    expect((await admin.post(`${MFA}/setup`)).status).toBe(409);
  });

  it('is required at sign-in: an app code works once, a backup code works once', async () => {
    const tenant = await app.newTenant();
    const { secret, backupCodes, usedCode } = await secondFactorOf(tenant.admin);
    const asked = await login(app, tenant);
    expect([asked.status, asked.body]).toEqual([
      200,
      { mfaRequired: true, mfaToken: expect.any(String), message: expect.any(String) },
    ]);
    const { mfaToken } = asked.body;
    expect((await app.as(mfaToken).get(ME)).status).toBe(401);
    expect((await app.as(mfaToken).get('/api/v1/org/sso-configs')).status).toBe(401);
    // The code that turned it on was used by that.
    expect((await verify(app, mfaToken, { code: usedCode })).status).toBe(401);
    const code = await codeOf(secret);
    const done = await verify(app, mfaToken, { code }, { 'x-tenant-id': tenant.tenantId });
    expect([done.status, done.body]).toEqual([
      200,
      {
        accessToken: expect.any(String),
        refreshToken: expect.any(String),
        expiresAt: expect.any(String),
        user: { id: tenant.adminId, email: tenant.email, displayName: 'Owner', roleType: 'super_admin' },
      },
    ]);
    expect((await app.as(done.body.accessToken).get(ME)).status).toBe(200);
    expect((await verify(app, mfaToken, { code: await codeOf(secret, 1) })).body).toMatchObject({
      error: 'invalid or expired token',
    });
    const replayed = await verify(app, (await login(app, tenant)).body.mfaToken, { code });
    expect([replayed.status, replayed.body]).toEqual([401, expect.objectContaining({ error: 'invalid code' })]);
    const byBackup = await verify(app, (await login(app, tenant)).body.mfaToken, {
      backupCode: backupCodes[4]!.toLowerCase(),
    });
    expect(byBackup.status).toBe(200);
    expect((await tenant.admin.get(`${MFA}/status`)).body.backupCodesRemaining).toBe(9);
    expect((await verify(app, await challenge(app, tenant), { backupCode: backupCodes[4] })).status).toBe(401);
    const sessions = (await app.as(byBackup.body.accessToken).get(`${ME}/sessions`)).body.sessions as {
      method: string;
    }[];
    expect(sessions.map(({ method }) => method)).toEqual(['password+backup_code', 'password+totp', 'setup']);
  });

  it.each([
    {},
    { code: '12345' },
    { code: '1234567' },
    { code: 123456 },
    { backupCode: 'short' },
    { code: '123456', backupCode: 'AAAAA-AAAAA' },
  ])('rejects %j as malformed, without using an attempt', async (presented) => {
    const tenant = await app.newTenant();
    const { secret } = await secondFactorOf(tenant.admin);
    const mfaToken = await challenge(app, tenant);
    for (let n = 0; n < 6; n += 1) expect((await verify(app, mfaToken, presented)).status).toBe(400);
    expect((await verify(app, mfaToken, { code: await codeOf(secret) })).status).toBe(200);
  });

  it('comes before a forced change of the password', async () => {
    const tenant = await app.newTenant();
    const bob = await app.adminWithRole(tenant, 'analyst');
    const { email } = (await bob.client.get(ME)).body as { email: string };
    const { secret } = await secondFactorOf(bob.client);
    const { temporaryPassword } = (await tenant.admin.post(`/api/v1/admin/admin-users/${bob.adminId}/reset-password`))
      .body;
    const asked = await login(app, { tenantId: tenant.tenantId, email }, temporaryPassword);
    expect(asked.body.mfaRequired).toBe(true);
    const forced = await verify(app, asked.body.mfaToken, { code: await codeOf(secret) });
    expect([forced.status, forced.body]).toEqual([
      200,
      { mustChangePassword: true, tempToken: expect.any(String), userId: bob.adminId, message: expect.any(String) },
    ]);
    const change = (newPassword: string) =>
      app.anonymous.post('/api/v1/auth/change-password', {
        tempToken: forced.body.tempToken,
        newPassword,
        confirmPassword: newPassword,
      });
    // A rejected password does not require a new sign-in.
    expect((await change(temporaryPassword)).status).toBe(400);
    const answers = await times(200, () => change('Another-Horse-8!'));
    expect([statuses(answers, 200), statuses(answers, 401)]).toEqual([1, 199]);
  });

  it('admits one of sixty concurrent uses of one app code, and of one backup code', async () => {
    for (const kind of ['code', 'backupCode'] as const) {
      const tenant = await app.newTenant();
      const { secret, backupCodes } = await secondFactorOf(tenant.admin);
      const tokens = await times(60, () => challenge(app, tenant));
      const presented = kind === 'code' ? { code: await codeOf(secret) } : { backupCode: backupCodes[0] };
      const answers = await times(60, (n) => verify(app, tokens[n]!, presented));
      expect([kind, statuses(answers, 200)]).toEqual([kind, 1]);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 401, 403]));
    }
  });

  it('admits one of several right codes that are used with one challenge at once', async () => {
    const tenant = await app.newTenant();
    const { secret, backupCodes } = await secondFactorOf(tenant.admin);
    const mfaToken = await challenge(app, tenant);
    const rights = [{ code: await codeOf(secret) }, ...backupCodes.slice(0, 3).map((backupCode) => ({ backupCode }))];
    expect(statuses(await Promise.all(rights.map((presented) => verify(app, mfaToken, presented))), 200)).toBe(1);
  });

  it.each([
    ['code', 'AcceptTotpCode', 'after'],
    ['code', 'StartSession', 'before'],
    ['code', 'StartSession', 'after'],
    ['code', 'RecordLoginSuccess', 'after'],
    ['backupCode', 'UseBackupCode', 'after'],
    ['backupCode', 'StartSession', 'after'],
  ] as const)('of kind %s counts again after a 503, here %s (%s), for that sign-in only', async (kind, name, when) => {
    const tenant = await app.newTenant();
    const { secret, backupCodes } = await secondFactorOf(tenant.admin);
    const mfaToken = await challenge(app, tenant);
    const presented = kind === 'code' ? { code: await codeOf(secret) } : { backupCode: backupCodes[0] };
    const restore = unavailableOnce(app.services.executor, name, when);
    expect((await verify(app, mfaToken, presented).finally(restore)).status).toBe(503);
    // The code belongs to that sign-in.
    if (name !== 'StartSession' || when === 'after')
      expect((await verify(app, await challenge(app, tenant), presented)).status).toBe(401);
    const again = await verify(app, mfaToken, presented);
    expect(again.status).toBe(200);
    const client = app.as(again.body.accessToken);
    expect((await client.get(`${MFA}/status`)).body.backupCodesRemaining).toBe(kind === 'code' ? 10 : 9);
    // One session, beside the first of the tenant.
    expect((await client.get(`${ME}/sessions`)).body.sessions).toHaveLength(2);
    expect((await verify(app, mfaToken, presented)).body).toMatchObject({ error: 'invalid or expired token' });
    expect((await verify(app, await challenge(app, tenant), presented)).status).toBe(401);
  });

  it('checks at most five wrong codes, however many are concurrent and under however many challenges', async () => {
    const tenant = await app.newTenant();
    const { secret } = await secondFactorOf(tenant.admin);
    const tokens = await times(200, () => challenge(app, tenant));
    const wrong = await codeOf(secret, 7);
    const answers = await times(200, (n) => verify(app, tokens[n]!, { code: wrong }));
    expect([statuses(answers, 401), statuses(answers, 403)]).toEqual([5, 195]);
    expect(await attemptsOf(tenant)).toBe(5);
    const right = await verify(app, await challenge(app, tenant), { code: await codeOf(secret) });
    expect([right.status, right.body]).toEqual([403, expect.objectContaining({ error: 'account locked' })]);
    const password = await login(app, tenant);
    expect([password.status, password.body]).toEqual([403, expect.objectContaining({ error: 'account locked' })]);
    expect((await login(app, tenant, 'Wrong-Horse-7!')).body).toEqual(
      expect.objectContaining({ error: 'invalid credentials' }),
    );
    await app.settled();
    const me = (await tenant.admin.get(ME)).body;
    expect([me.status, typeof me.lockedUntil]).toEqual(['locked', 'string']);
  });

  it('is not guessed with the password known: right passwords in between give no more attempts', async () => {
    const tenant = await app.newTenant();
    const { secret } = await secondFactorOf(tenant.admin);
    const outcomes: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      const asked = await login(app, tenant);
      outcomes.push(
        asked.status === 200
          ? (await verify(app, asked.body.mfaToken, { code: await codeOf(secret, 7 + n) })).status
          : asked.status,
      );
    }
    expect(outcomes).toEqual([401, 401, 401, 401, 401, 403]);
  });

  it('allows five attempts per challenge', async () => {
    const tenant = await app.newTenant();
    await secondFactorOf(tenant.admin);
    const mfaToken = await challenge(app, tenant);
    for (let n = 0; n < 5; n += 1) await app.services.oneTimeTokens.spend('mfa', mfaToken);
    expect((await verify(app, mfaToken, { code: '123456' })).body).toEqual(
      expect.objectContaining({ error: 'invalid or expired token' }),
    );
  });

  it('rejects a challenge that was tampered with, has expired, is of another tenant or kind, or from before a reset', async () => {
    const tenant = await app.newTenant();
    const other = await app.newTenant();
    const { backupCodes } = await secondFactorOf(tenant.admin);
    const subject = { tenantId: tenant.tenantId, subjectId: tenant.adminId, payload: { epoch: 0 } };
    const good = await challenge(app, tenant);
    const [head, secret] = good.split('.') as [string, string];
    const foreignHead = (await challenge(app, other)).split('.')[0]!;
    const bad = [
      `${head}.${[...secret].reverse().join('')}`,
      `${foreignHead}.${secret}`,
      secret,
      '.',
      await app.services.oneTimeTokens.issue('mfa', subject, -1, 5),
      await app.services.oneTimeTokens.issue('temp', subject, 300),
      await app.services.oneTimeTokens.issue('reauth', subject, 300),
      await challenge(app, tenant, 1),
      tenant.token,
    ];
    for (const mfaToken of bad) {
      const answer = await verify(app, mfaToken.slice(0, 256), { backupCode: backupCodes[0] });
      expect([answer.status, answer.body]).toEqual([
        401,
        expect.objectContaining({ error: 'invalid or expired token' }),
      ]);
    }
    expect((await verify(app, good, { backupCode: backupCodes[0] }, { 'x-tenant-id': other.tenantId })).status).toBe(
      401,
    );
    expect(
      (await verify(app, good, { backupCode: backupCodes[0] }, { 'x-tenant-id': tenant.tenantId.toUpperCase() }))
        .status,
    ).toBe(200);
  });

  describe('is turned off', () => {
    it('with a re-authentication token of this session only, and then sign-in returns tokens', async () => {
      const tenant = await app.newTenant();
      const { secret } = await secondFactorOf(tenant.admin);
      const other = await app.newTenant();
      const elsewhere = (await verify(app, await challenge(app, tenant), { code: await codeOf(secret) })).body
        .accessToken as string;
      const expired = await app.services.oneTimeTokens.issue(
        'reauth',
        {
          tenantId: tenant.tenantId,
          subjectId: tenant.adminId,
          payload: { sessionId: (await app.services.accessTokens.verify(tenant.token))!.sessionId },
        },
        -1,
      );
      const refused = [
        {},
        { 'x-reauth-token': 'nonsense' },
        await proofOf(app, other.token),
        await proofOf(app, elsewhere),
        { 'x-reauth-token': expired },
      ];
      for (const headers of refused) {
        const answer = await app.as(tenant.token).delete(MFA, { headers });
        expect([answer.status, answer.body]).toEqual([
          403,
          expect.objectContaining({ error: 're-authentication required' }),
        ]);
      }
      expect((await tenant.admin.get(`${MFA}/status`)).body.enabled).toBe(true);
      const { status, body } = await tenant.admin.post('/api/v1/admin/verify-password', { password: PASSWORD });
      expect([status, body]).toEqual([200, { reAuthToken: expect.any(String), expiresIn: 300 }]);
      const headers = { 'x-reauth-token': body.reAuthToken as string };
      expect((await tenant.admin.delete(MFA, { headers })).status).toBe(204);
      expect((await tenant.admin.get(`${MFA}/status`)).body).toEqual({
        enabled: false,
        backupCodesRemaining: 0,
        enabledAt: null,
      });
      // The token is reusable for its lifetime, and turning it off twice has no further effect.
      expect((await tenant.admin.delete(MFA, { headers })).status).toBe(204);
      expect((await login(app, tenant)).body.accessToken).toEqual(expect.any(String));
      const { rows } = await app.services.database.owner.query(
        `select field from secrets where tenant_id = $1 and owner = $2`,
        [tenant.tenantId, `admin/${tenant.adminId}`],
      );
      expect(rows).toEqual([{ field: 'passwordHash' }]);
    });
  });

  describe('re-authentication', () => {
    it('rejects a wrong password with 401, counts it, and clears no other attempt', async () => {
      const tenant = await app.newTenant();
      const confirm = (password: string) => tenant.admin.post('/api/v1/admin/verify-password', { password });
      for (let n = 0; n < 4; n += 1) expect((await confirm('Wrong-Horse-7!')).status).toBe(401);
      expect((await confirm(PASSWORD)).status).toBe(200);
      expect((await confirm('Wrong-Horse-7!')).status).toBe(401);
      const locked = await confirm(PASSWORD);
      expect([locked.status, locked.body]).toEqual([403, expect.objectContaining({ error: 'account locked' })]);
      // The session stays valid.
      expect((await tenant.admin.get(ME)).status).toBe(200);
    });

    it('is no sign-in', async () => {
      const tenant = await app.newTenant();
      expect((await tenant.admin.post('/api/v1/admin/verify-password', { password: PASSWORD })).status).toBe(200);
      await app.settled();
      expect((await tenant.admin.get(ME)).body.lastLoginAt).toBeNull();
    });
  });

  it('checks at most ten of sixty concurrent wrong passwords, for known and unknown accounts alike', async () => {
    const tenant = await app.newTenant();
    for (const email of [tenant.email, `${randomUUID()}@acme.example`]) {
      const before = await attemptsOf(tenant);
      const answers = await times(60, () => login(app, { tenantId: tenant.tenantId, email }, 'Wrong-Horse-7!'));
      expect(new Set(answers.map(({ status, body }) => `${status} ${body.error}`))).toEqual(
        new Set(['401 invalid credentials']),
      );
      expect((await attemptsOf(tenant)) - before).toBe(10);
    }
  });

  it('stores nothing for an unknown tenant', async () => {
    const tenantId = randomUUID();
    expect(
      (await app.anonymous.post('/api/v1/auth/login', { email: 'x@acme.example', password: PASSWORD, tenantId }))
        .status,
    ).toBe(401);
    for (const table of ['events', 'tenant_keys']) {
      const { rows } = await app.services.database.owner.query(`select from ${table} where tenant_id = $1`, [tenantId]);
      expect([table, rows.length]).toEqual([table, 0]);
    }
  });
});
