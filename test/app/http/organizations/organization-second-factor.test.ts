import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyTenant } from '../../../../src/contexts/audit/verify.ts';
import { sharedApp, type TestApp } from '../../../dsl/app.ts';
import { newOrganization, orgAdminWithRole } from '../../../dsl/organization.ts';
import { orgChallenge, orgLogin, orgSecondFactorOf, orgVerify } from '../../../dsl/org-second-factor.ts';
import { codeOf, verify } from '../../../dsl/second-factor.ts';

const MFA = '/api/v1/org/mfa';
const CONFIGS = '/api/v1/org/sso-configs';
const statuses = (answers: readonly { status: number }[], status: number) =>
  answers.filter((answer) => answer.status === status).length;
const times = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

describe("the second factor of an organization's admin", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await sharedApp();
  });
  afterAll(() => app.close());

  it('is set up with a code of the secret, and is off until then', async () => {
    const { owner, write } = await newOrganization(app);
    const off = { enabled: false, backupCodesRemaining: 0, enabledAt: null };
    expect((await owner.get(`${MFA}/status`)).body).toEqual(off);
    expect((await write('POST', `${MFA}/setup/verify`, { code: '000000' })).status).toBe(409);
    const setup = await write('POST', `${MFA}/setup`, {});
    expect(setup.body).toEqual({
      secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
      otpauthUrl: expect.stringMatching(/^otpauth:\/\/totp\//),
      qrCode: expect.stringMatching(/^data:image\/png;base64,/),
    });
    const wrong = await write('POST', `${MFA}/setup/verify`, { code: await codeOf(setup.body.secret, 5) });
    expect([wrong.status, wrong.body.error]).toEqual([400, 'validation failed: code: is not the current code']);
    expect((await owner.get(`${MFA}/status`)).body).toEqual(off);
    const code = await codeOf(setup.body.secret);
    const answers = await times(20, () => write('POST', `${MFA}/setup/verify`, { code }));
    expect([statuses(answers, 200), statuses(answers, 409)]).toEqual([1, 19]);
    expect(answers.find(({ status }) => status === 200)!.body).toEqual({
      enabled: true,
      backupCodes: Array.from({ length: 10 }, () => expect.stringMatching(/^[A-Z0-9]{5}-[A-Z0-9]{5}$/)),
    });
    expect((await owner.get(`${MFA}/status`)).body).toEqual({
      enabled: true,
      backupCodesRemaining: 10,
      enabledAt: expect.any(String),
    });
    expect((await write('POST', `${MFA}/setup`, {})).status).toBe(409);
    expect((await write('DELETE', MFA)).status).toBe(204);
    expect((await owner.get(`${MFA}/status`)).body).toEqual(off);
  });

  it('is available to every role, and needs a re-authentication that is valid for one request', async () => {
    const north = await newOrganization(app);
    const viewer = await orgAdminWithRole(app, north, 'org_viewer');
    await app.settled();
    const { sessionId } = (await app.services.accessTokens.verify(viewer.token))!;
    const proof = await app.services.oneTimeTokens.issue(
      'org-reauth',
      { tenantId: north.organizationId, subjectId: viewer.adminId, payload: { sessionId } },
      300,
    );
    for (const [method, path] of [
      ['POST', `${MFA}/setup`],
      ['POST', `${MFA}/setup/verify`],
      ['DELETE', MFA],
    ] as const) {
      const refused = await viewer.client.send(method, path, method === 'POST' ? { body: { code: '123456' } } : {});
      expect([refused.status, refused.body.error]).toEqual([403, 're-authentication required']);
    }
    const setUp = () => viewer.client.post(`${MFA}/setup`, {}, { headers: { 'x-reauth-token': proof } });
    expect((await setUp()).status).toBe(200);
    expect((await setUp()).status).toBe(403);
    expect((await north.owner.get(`${MFA}/status`)).body.enabled).toBe(false);
  });

  it('is required at sign-in: an app code works once, a backup code works once', async () => {
    const north = await newOrganization(app);
    const { secret, backupCodes, usedCode } = await orgSecondFactorOf(north);
    const asked = await orgLogin(app, north);
    expect([asked.status, asked.body]).toEqual([
      200,
      { mfaRequired: true, mfaToken: expect.any(String), userId: expect.any(String), message: expect.any(String) },
    ]);
    const { mfaToken } = asked.body;
    expect((await app.as(mfaToken).get(CONFIGS)).status).toBe(401);
    // The tenant's endpoint rejects its token, without using it up.
    expect((await verify(app, mfaToken, { code: await codeOf(secret) })).body).toMatchObject({
      error: 'invalid or expired token',
    });
    // The code that turned it on was used by that.
    expect((await orgVerify(app, mfaToken, { code: usedCode })).status).toBe(401);
    const code = await codeOf(secret);
    const done = await orgVerify(app, mfaToken, { code });
    expect([done.status, done.body]).toEqual([
      200,
      {
        accessToken: expect.any(String),
        refreshToken: expect.any(String),
        expiresAt: expect.any(String),
        user: {
          id: asked.body.userId,
          email: north.email,
          displayName: north.email.split('@')[0],
          role: 'org_owner',
          organizationId: north.organizationId,
        },
      },
    ]);
    expect(done.headers.getSetCookie().join()).toContain('castellan-browser-');
    expect((await app.as(done.body.accessToken).get(CONFIGS)).status).toBe(200);
    expect((await orgVerify(app, mfaToken, { code: await codeOf(secret, 1) })).body).toMatchObject({
      error: 'invalid or expired token',
    });
    const replayed = await orgVerify(app, (await orgLogin(app, north)).body.mfaToken, { code });
    expect([replayed.status, replayed.body]).toEqual([401, expect.objectContaining({ error: 'invalid code' })]);
    expect(
      (await orgVerify(app, await orgChallenge(app, north), { backupCode: backupCodes[4]!.toLowerCase() })).status,
    ).toBe(200);
    expect((await north.owner.get(`${MFA}/status`)).body.backupCodesRemaining).toBe(9);
    expect((await orgVerify(app, await orgChallenge(app, north), { backupCode: backupCodes[4] })).status).toBe(401);
    await app.settled();
    expect((await verifyTenant(app.services, north.organizationId)).valid).toBe(true);
  });

  it('admits one of sixty concurrent uses of one app code, and of one backup code', async () => {
    for (const kind of ['code', 'backupCode'] as const) {
      const north = await newOrganization(app);
      const { secret, backupCodes } = await orgSecondFactorOf(north);
      const tokens = await times(60, () => orgChallenge(app, north));
      const presented = kind === 'code' ? { code: await codeOf(secret) } : { backupCode: backupCodes[0] };
      const answers = await times(60, (n) => orgVerify(app, tokens[n]!, presented));
      expect([kind, statuses(answers, 200)]).toEqual([kind, 1]);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 401, 403]));
    }
  });

  it('checks at most five wrong codes, under however many challenges, and then not the right one', async () => {
    const north = await newOrganization(app);
    const { secret } = await orgSecondFactorOf(north);
    const tokens = await times(50, () => orgChallenge(app, north));
    const wrong = await codeOf(secret, 7);
    const answers = await times(50, (n) => orgVerify(app, tokens[n]!, { code: wrong }));
    expect([statuses(answers, 401), statuses(answers, 403)]).toEqual([5, 45]);
    const right = await orgVerify(app, await orgChallenge(app, north), { code: await codeOf(secret) });
    expect([right.status, right.body]).toEqual([403, expect.objectContaining({ error: 'account locked' })]);
    // Signed-in admins may continue to act.
    expect((await north.owner.post('/api/v1/org/verify-password', { password: north.password })).status).toBe(200);
  });

  it('is of no use once passwords are disabled, or sessions were ended', async () => {
    const north = await newOrganization(app);
    const { secret } = await orgSecondFactorOf(north);
    const late = await orgChallenge(app, north);
    expect((await north.owner.delete('/api/v1/org/me/sessions')).status).toBe(204);
    expect((await orgVerify(app, late, { code: await codeOf(secret) })).body).toMatchObject({
      error: 'invalid or expired token',
    });
    const { mfaToken } = (await orgLogin(app, north)).body;
    expect(
      (
        await north.write('POST', CONFIGS, {
          issuerUrl: 'https://idp.invalid',
          clientId: 'castellan',
          clientSecret: 'hush-hush',
        })
      ).status,
    ).toBe(201);
    expect((await north.write('PUT', `${CONFIGS}/require`, { requireSso: true })).status).toBe(200);
    expect((await orgVerify(app, mfaToken, { code: await codeOf(secret) })).body).toMatchObject({
      error: 'invalid or expired token',
    });
    expect((await orgLogin(app, north)).body).toEqual(expect.objectContaining({ error: 'sso required' }));
  });
});
