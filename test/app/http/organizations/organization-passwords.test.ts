import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { organization, organizationStream } from '../../../../src/contexts/organizations/domain/organization.ts';
import { findOrgAdmin } from '../../../../src/contexts/identity/org-sign-in.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import { accept, defineCommand } from '../../../../src/platform/kernel/command.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import {
  createOrganizationAsOperator,
  recoverOrgAdminAsOperator,
} from '../../../../src/app/cli/organization-commands.ts';
import { sharedApp, type TestApp } from '../../../dsl/app.ts';
import { newOrganization } from '../../../dsl/organization.ts';
import { orgLogin, orgSecondFactorOf, orgVerify } from '../../../dsl/org-second-factor.ts';
import { codeOf } from '../../../dsl/second-factor.ts';

const FORCED = '/api/v1/org/auth/change-password';
const CHANGE = '/api/v1/org/change-password';
const CONFIGS = '/api/v1/org/sso-configs';
const CHOSEN = 'Another-Horse-8!';
const DAY_MS = 86_400_000;
const times = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

let app: TestApp;
beforeAll(async () => {
  app = await sharedApp();
});
afterAll(() => app.close());

const adminOf = async (email: string) => (await findOrgAdmin(app.services, app.services.accountDigest(email)))!.admin;

describe("a temporary password of an organization's admin", () => {
  const made = async () => {
    const email = `owner-${randomUUID().slice(0, 8)}@mssp.example`;
    return {
      email,
      name: 'North',
      ...(await createOrganizationAsOperator(app.services, { name: 'North', ownerEmail: email })),
    };
  };
  const changeTo = (tempToken: string, newPassword: string) =>
    app.anonymous.post(FORCED, { tempToken, newPassword, confirmPassword: newPassword });

  it('must be changed before the first session, once', async () => {
    const north = await made();
    const forced = await orgLogin(app, north);
    expect([forced.status, forced.body]).toEqual([
      200,
      {
        mustChangePassword: true,
        tempToken: expect.any(String),
        userId: (await adminOf(north.email)).adminId,
        message: expect.any(String),
      },
    ]);
    const { tempToken } = forced.body;
    expect((await app.as(tempToken).get(CONFIGS)).status).toBe(401);
    // The tenant's endpoint rejects its token. A rejected password does not require a new sign-in.
    expect(
      (
        await app.anonymous.post('/api/v1/auth/change-password', {
          tempToken,
          newPassword: CHOSEN,
          confirmPassword: CHOSEN,
        })
      ).status,
    ).toBe(401);
    for (const refused of [north.password, 'Password123!', `${north.email.split('@')[0]}A1!`, 'short']) {
      const answer = await changeTo(tempToken, refused);
      expect([answer.status, String(answer.body.error)]).toEqual([400, expect.stringContaining('newPassword')]);
    }
    const answers = await times(50, () => changeTo(tempToken, CHOSEN));
    expect([
      answers.filter(({ status }) => status === 200).length,
      answers.filter(({ status }) => status === 401).length,
    ]).toEqual([1, 49]);
    expect((await orgLogin(app, north)).status).toBe(401);
    const done = await orgLogin(app, { ...north, password: CHOSEN });
    expect((await app.as(done.body.accessToken).get(CONFIGS)).status).toBe(200);
    expect(await adminOf(north.email)).toMatchObject({ mustChangePassword: false, passwordExpiresAt: undefined });
  });

  it('is invalid after a recovery, as is the challenge from its sign-in', async () => {
    const north = await made();
    const { tempToken } = (await orgLogin(app, north)).body;
    const { password } = await recoverOrgAdminAsOperator(app.services, north);
    expect((await changeTo(tempToken, CHOSEN)).body).toEqual(
      expect.objectContaining({ error: 'invalid or expired token' }),
    );
    expect((await orgLogin(app, north)).status).toBe(401);
    expect((await orgLogin(app, { ...north, password })).body.mustChangePassword).toBe(true);
  });

  it('is valid for seven days, whoever created it, and only a client with the right password learns that it has expired', async () => {
    const before = Date.now();
    const north = await made();
    const daysOf = async () => ((await adminOf(north.email)).passwordExpiresAt! - before) / DAY_MS;
    expect(await daysOf()).toBeCloseTo(7, 2);
    const { password } = await recoverOrgAdminAsOperator(app.services, north);
    expect(await daysOf()).toBeCloseTo(7, 2);
    await letExpire(north.organizationId);
    for (let turn = 0; turn < 7; turn += 1) {
      // The right password does not count towards a lock.
      const answer = await orgLogin(app, { ...north, password });
      expect([answer.status, answer.body]).toEqual([
        403,
        expect.objectContaining({ error: 'temporary password expired' }),
      ]);
    }
    expect((await orgLogin(app, { ...north, password: 'Wrong-Horse-7!' })).body).toMatchObject({
      error: 'invalid credentials',
    });
    expect(
      (await orgLogin(app, { ...north, ...(await recoverOrgAdminAsOperator(app.services, north)) })).body
        .mustChangePassword,
    ).toBe(true);
  });

  async function letExpire(organizationId: Awaited<ReturnType<typeof made>>['organizationId']): Promise<void> {
    const command = defineCommand({
      name: 'ExpirePasswordForTest',
      aggregate: organization,
      stream: () => organizationStream(organizationId),
      decide: ({ admins }) => {
        const { adminId, passwordRef } = [...admins.values()][0]!;
        const passwordExpiresAt = new Date(Date.now() - 1_000).toISOString();
        return accept([
          {
            type: 'OrgAdminPasswordChanged' as const,
            data: { adminId, passwordRef, mustChangePassword: true, reason: 'recovered' as const, passwordExpiresAt },
          },
        ]);
      },
    });
    orThrow(
      await app.services.executor.execute(command, undefined, { tenantId: organizationId, actor: system('test') }),
    );
  }
});

describe("a change of an organization's admin's password", () => {
  const change = (currentPassword: string, newPassword = CHOSEN, more: object = {}) => ({
    currentPassword,
    newPassword,
    ...more,
  });

  it('ends every other session, and keeps the requesting one', async () => {
    const north = await newOrganization(app);
    const elsewhere = (await orgLogin(app, north)).body as { accessToken: string; refreshToken: string };
    const answer = await north.owner.post(CHANGE, change(north.password, CHOSEN, { confirmPassword: CHOSEN }));
    expect([answer.status, answer.body]).toEqual([200, { success: true, message: expect.any(String) }]);
    expect((await app.as(elsewhere.accessToken).get(CONFIGS)).status).toBe(401);
    expect((await app.anonymous.post('/api/v1/auth/refresh', { refreshToken: elsewhere.refreshToken })).status).toBe(
      401,
    );
    expect((await north.owner.get(CONFIGS)).status).toBe(200);
    expect((await orgLogin(app, north)).status).toBe(401);
    expect((await orgLogin(app, { ...north, password: CHOSEN })).status).toBe(200);
    const { rows } = await app.services.database.owner.query(
      `select owner from secrets where tenant_id = $1 and field = 'passwordHash'`,
      [north.organizationId],
    );
    expect(rows).toHaveLength(1);
  });

  it('keeps the second factor', async () => {
    const north = await newOrganization(app);
    const { secret } = await orgSecondFactorOf(north);
    expect((await north.owner.post(CHANGE, change(north.password))).status).toBe(200);
    const { mfaToken } = (await orgLogin(app, { ...north, password: CHOSEN })).body;
    expect((await orgVerify(app, mfaToken, { code: await codeOf(secret) })).status).toBe(200);
  });

  it('is rejected for common passwords, those built from known names, the old one, and two that differ', async () => {
    const north = await newOrganization(app, 'Gryphonfield');
    const refused = [
      change(north.password, 'Password123!'),
      change(north.password, 'Gryphonfield-1!'),
      change(north.password, north.password),
      change(north.password, CHOSEN, { confirmPassword: 'Another-Horse-9!' }),
    ];
    for (const body of refused) {
      const answer = await north.owner.post(CHANGE, body);
      expect([answer.status, String(answer.body.error)]).toEqual([
        400,
        expect.stringMatching(/newPassword|confirmPassword/),
      ]);
    }
    expect((await orgLogin(app, north)).status).toBe(200);
  });

  it('checks at most five wrong passwords per session, and locks nobody out elsewhere', async () => {
    const north = await newOrganization(app);
    for (let turn = 0; turn < 5; turn += 1)
      expect((await north.owner.post(CHANGE, change('Wrong-Horse-7!'))).status).toBe(401);
    const right = await north.owner.post(CHANGE, change(north.password));
    expect([right.status, right.body]).toEqual([403, expect.objectContaining({ error: 'account locked' })]);
    expect((await orgLogin(app, north)).status).toBe(200);
  });

  it('succeeds for one of many concurrent requests', async () => {
    const north = await newOrganization(app);
    const sessions = await times(4, async () => app.as((await orgLogin(app, north)).body.accessToken as string));
    const answers = await Promise.all(
      sessions.map((session, n) => session.post(CHANGE, change(north.password, `Another-Horse-${n}!`))),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});
