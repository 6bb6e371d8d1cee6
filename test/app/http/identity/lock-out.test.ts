import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PASSWORD, startApp, type TestResponse, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { newOrganization } from '../../../dsl/organization.ts';
import { codeOf, secondFactorOf } from '../../../dsl/second-factor.ts';
import { cookiesOf } from '../../../dsl/sso-browser.ts';

const LOGIN = '/api/v1/auth/login';
const WRONG = 'Wrong-Horse-7!';
const times = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

describe('the lock of an account', () => {
  let app: TestApp;
  beforeAll(async () => {
    // Requests name their source address, as behind a proxy.
    app = await startApp({ trustedProxies: ['127.0.0.1'] });
  });
  afterAll(() => app.close());

  interface From {
    readonly address?: string;
    readonly cookie?: string;
  }
  const headersOf = ({ address = '198.51.100.7', cookie }: From) => ({
    'x-forwarded-for': address,
    ...(cookie ? { cookie } : {}),
  });
  const login = ({ tenantId, email }: Pick<TestTenant, 'tenantId' | 'email'>, password: string, from: From = {}) =>
    app.anonymous.post(LOGIN, { tenantId, email, password }, { headers: headersOf(from) });
  const attempts = async ({ tenantId }: Pick<TestTenant, 'tenantId'>) =>
    (
      await app.services.database.owner.query(`select from events where type = 'LoginAttempted' and tenant_id = $1`, [
        tenantId,
      ])
    ).rowCount!;
  const told = ({ status, body }: TestResponse) => [status, body.error];
  /** One address after another, until attempts from unknown addresses are no longer checked. */
  async function attacked(tenant: Pick<TestTenant, 'tenantId' | 'email'>): Promise<void> {
    for (let n = 0; n < 6; n += 1) await times(10, () => login(tenant, WRONG, { address: `203.0.113.${n}` }));
  }

  it('applies to the address that used up its attempts, and to no other', async () => {
    const tenant = await app.newTenant();
    for (let n = 0; n < 5; n += 1)
      expect(told(await login(tenant, WRONG, { address: '203.0.113.1' }))).toEqual([401, 'invalid credentials']);
    expect(told(await login(tenant, PASSWORD, { address: '203.0.113.1' }))).toEqual([403, 'account locked']);
    expect((await login(tenant, PASSWORD)).status).toBe(200);
    // A success from elsewhere does not clear the attacker's attempts.
    expect(told(await login(tenant, PASSWORD, { address: '203.0.113.1' }))).toEqual([403, 'account locked']);
    await app.settled();
    expect((await tenant.admin.get('/api/v1/admin/me')).body).toMatchObject({
      status: 'locked',
      lockedUntil: expect.any(String),
    });
  });

  it('counts a whole /64 as one address, and ignores a port that a proxy appends', async () => {
    const tenant = await app.newTenant();
    for (let n = 0; n < 5; n += 1) await login(tenant, WRONG, { address: `2001:db8:1:2::${n}` });
    expect((await login(tenant, PASSWORD, { address: '2001:db8:1:2:ffff::9' })).status).toBe(403);
    expect((await login(tenant, PASSWORD, { address: '2001:db8:1:3::1' })).status).toBe(200);
  });

  it('checks at most fifty passwords from unknown addresses, for known and unknown accounts alike', async () => {
    const tenant = await app.newTenant();
    for (const email of [tenant.email, `${randomUUID()}@acme.example`]) {
      const before = await attempts(tenant);
      const answers = [];
      // As many at once as one tenant's share of the queue of checks holds.
      for (const wave of [0, 1, 2, 3])
        answers.push(
          ...(await times(50, (n) => login({ ...tenant, email }, WRONG, { address: `203.0.113.${wave * 50 + n}` }))),
        );
      expect(new Set(answers.map(({ status, body }) => `${status} ${body.error}`))).toEqual(
        new Set(['401 invalid credentials']),
      );
      expect((await attempts(tenant)) - before).toBe(50);
    }
    // An unknown address with the right password learns nothing.
    expect(told(await login(tenant, PASSWORD, { address: '192.0.2.1' }))).toEqual([401, 'invalid credentials']);
  });

  it('does not apply to a browser that signed in before, during an attack from elsewhere', async () => {
    const tenant = await app.newTenant();
    const first = await login(tenant, PASSWORD, { address: '192.0.2.10' });
    const cookie = cookiesOf(first);
    const [set] = first.headers.getSetCookie();
    expect(set).toMatch(
      /^__Host-castellan-browser-[0-9a-f]{16}=[\w.-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=7776000; Secure$/,
    );
    await attacked(tenant);
    const moved = { address: '192.0.2.77', cookie };
    const again = await login(tenant, PASSWORD, moved);
    expect([again.status, again.headers.getSetCookie()]).toEqual([200, []]);
    expect((await login(tenant, PASSWORD, { address: '192.0.2.77' })).status).toBe(401);
    // Nor to a client without cookies at an address that signed in before.
    expect((await login(tenant, PASSWORD, { address: '192.0.2.10' })).status).toBe(200);
    // It has five attempts of its own, and no more.
    for (let n = 0; n < 5; n += 1) expect((await login(tenant, WRONG, moved)).status).toBe(401);
    expect(told(await login(tenant, PASSWORD, moved))).toEqual([403, 'account locked']);
  });

  it('applies to a browser that knows another account, or forges a cookie for this one', async () => {
    const [tenant, other] = [await app.newTenant(), await app.newTenant()];
    const foreign = cookiesOf(await login(other, PASSWORD));
    const own = cookiesOf(await login(tenant, PASSWORD, { address: '192.0.2.10' }));
    await attacked(tenant);
    const forged = own.replace(/.{4}$/, 'AAAA');
    const renamed = `${own.split('=')[0]}=${foreign.split('=')[1]}`;
    for (const cookie of [foreign, forged, renamed, 'x=y', ';;;'])
      expect((await login(tenant, PASSWORD, { address: '192.0.2.99', cookie })).status).toBe(401);
  });

  it('does not prevent re-authentication in a live session, and a guessing session locks only itself', async () => {
    const tenant = await app.newTenant();
    const confirm = (token: string, password: string) =>
      app.as(token).post('/api/v1/admin/verify-password', { password });
    const second = (await login(tenant, PASSWORD, { address: '192.0.2.10' })).body.accessToken as string;
    await attacked(tenant);
    expect((await confirm(tenant.token, PASSWORD)).status).toBe(200);
    for (let n = 0; n < 5; n += 1) expect((await confirm(tenant.token, WRONG)).status).toBe(401);
    expect(told(await confirm(tenant.token, PASSWORD))).toEqual([403, 'account locked']);
    expect((await confirm(second, PASSWORD)).status).toBe(200);
  });

  it('gives unknown addresses with the password five codes together, and a known browser its own', async () => {
    const tenant = await app.newTenant();
    const { secret, backupCodes } = await secondFactorOf(tenant.admin);
    const verify = (mfaToken: string, presented: object, from: From) =>
      app.anonymous.post('/api/v1/auth/mfa/verify', { mfaToken, ...presented }, { headers: headersOf(from) });
    const home = { address: '192.0.2.10' };
    const signedIn = await verify(
      (await login(tenant, PASSWORD, home)).body.mfaToken,
      { backupCode: backupCodes[0] },
      home,
    );
    const cookie = cookiesOf(signedIn);
    expect(cookie).toContain('castellan-browser');
    const guesses = await times(20, async (n) => {
      const from = { address: `203.0.113.${n}` };
      return verify((await login(tenant, PASSWORD, from)).body.mfaToken, { code: await codeOf(secret, 9 + n) }, from);
    });
    expect(guesses.map(({ status }) => status).sort()).toEqual([
      ...Array.from({ length: 5 }, () => 401),
      ...Array.from({ length: 15 }, () => 403),
    ]);
    const known = { address: '192.0.2.200', cookie };
    expect(
      (await verify((await login(tenant, PASSWORD, known)).body.mfaToken, { code: await codeOf(secret) }, known))
        .status,
    ).toBe(200);
  });

  it("applies in the same way to an organization's admin", async () => {
    const north = await newOrganization(app);
    const orgLogin = (password: string, from: From = {}) =>
      app.anonymous.post('/api/v1/org/auth/login', { email: north.email, password }, { headers: headersOf(from) });
    const cookie = cookiesOf(await orgLogin(north.password, { address: '192.0.2.10' }));
    expect(cookie).toContain('castellan-browser');
    for (let n = 0; n < 6; n += 1) await times(10, () => orgLogin(WRONG, { address: `203.0.113.${n}` }));
    expect((await orgLogin(north.password)).status).toBe(401);
    expect((await orgLogin(north.password, { cookie })).status).toBe(200);
    expect((await north.owner.post('/api/v1/org/verify-password', { password: north.password })).status).toBe(200);
  });
});
