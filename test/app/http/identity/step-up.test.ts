import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PASSWORD, startApp, type TestResponse, type Client, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { secondFactorOf } from '../../../dsl/second-factor.ts';

const ADMINS = '/api/v1/admin/admin-users';
const DESTINATIONS = '/api/v1/admin/integrations/log-destinations';
const draft = (over: object = {}) => ({
  email: `${randomUUID()}@acme.example`,
  displayName: 'Grace',
  roleType: 'analyst',
  ...over,
});
const provider = () => ({ name: 'Elsewhere', issuerUrl: 'https://idp.elsewhere.example', clientId: 'castellan' });

describe('a stolen access token of a super admin', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());

  const takeovers: readonly (readonly [
    string,
    (thief: Client, victim: TestTenant, otherId: string) => Promise<TestResponse>,
  ])[] = [
    ['set up a second factor', (thief) => thief.post('/api/v1/admin/mfa/setup')],
    ['finish setting one up', (thief) => thief.post('/api/v1/admin/mfa/setup/verify', { code: '123456' })],
    ['turn one off', (thief) => thief.delete('/api/v1/admin/mfa')],
    ['reset the own password', (thief, { adminId }) => thief.post(`${ADMINS}/${adminId}/reset-password`)],
    ["reset a colleague's password", (thief, _victim, otherId) => thief.post(`${ADMINS}/${otherId}/reset-password`)],
    [
      'change the own e-mail',
      (thief, { adminId }) => thief.put(`${ADMINS}/${adminId}`, { email: 'thief@evil.example' }),
    ],
    [
      "change a colleague's e-mail",
      (thief, _victim, otherId) => thief.put(`${ADMINS}/${otherId}`, { email: 'thief@evil.example' }),
    ],
    ['make a super admin', (thief) => thief.post(ADMINS, draft({ roleType: 'super_admin', password: PASSWORD }))],
    ['make an admin', (thief) => thief.post(ADMINS, draft({ roleType: 'admin', password: PASSWORD }))],
    ['make an analyst', (thief) => thief.post(ADMINS, draft())],
    ['remove a log destination', (thief) => thief.delete(`${DESTINATIONS}/${randomUUID()}`)],
    [
      'set the secret of the webhook',
      (thief) => thief.put('/api/v1/admin/alert-notifications/webhook-secret', { secret: 'known to the thief too' }),
    ],
    [
      'set the password for the mail server',
      (thief) => thief.put('/api/v1/admin/alert-notifications/smtp-password', { password: 'wrong' }),
    ],
    [
      'share the calendar of a schedule',
      (thief) => thief.post(`/api/v1/admin/on-call/schedules/${randomUUID()}/calendar`),
    ],
    ['promote an analyst', (thief, _victim, otherId) => thief.put(`${ADMINS}/${otherId}`, { roleType: 'super_admin' })],
    ['add an identity provider', (thief) => thief.post('/api/v1/admin/sso-configs', provider())],
    [
      'change an identity provider',
      (thief) => thief.put(`/api/v1/admin/sso-configs/${randomUUID()}`, { isEnabled: true }),
    ],
    ['remove an identity provider', (thief) => thief.delete(`/api/v1/admin/sso-configs/${randomUUID()}`)],
    [
      'install a certificate authority',
      (thief) => thief.post('/api/v1/admin/certificates/ca', { certificate: 'x', privateKey: 'y' }),
    ],
    ["make a browser an employee's", (thief) => thief.post('/api/v1/admin/enrollment/token', { userId: randomUUID() })],
    ['set the secret of the agents', (thief) => thief.post('/api/v1/admin/enrollment/agent-secret')],
    ['remove the secrets of the agents', (thief) => thief.delete('/api/v1/admin/enrollment/agent-secret')],
    [
      'remove one secret of the agents',
      (thief) => thief.delete(`/api/v1/admin/enrollment/agent-secret/${randomUUID()}`),
    ],
    ['vouch for a device', (thief) => thief.put(`/api/v1/admin/devices/${randomUUID()}/confirm-enrollment`)],
    ['let a revoked device in again', (thief) => thief.put(`/api/v1/admin/devices/${randomUUID()}/allow-reenrollment`)],
    ['remove the certificate authority', (thief) => thief.delete('/api/v1/admin/certificates/ca')],
  ];

  it.each(takeovers)('is not sufficient to %s', async (_what, act) => {
    const victim = await app.newTenant();
    const other = await app.adminWithRole(victim, 'analyst');
    const events = async () =>
      (await app.services.database.owner.query('select from events where tenant_id = $1', [victim.tenantId])).rowCount;
    const before = await events();
    const answer = await act(app.as(victim.token), victim, other.adminId);
    expect([answer.status, answer.body]).toEqual([
      403,
      expect.objectContaining({ error: 're-authentication required' }),
    ]);
    expect(await events()).toBe(before);
  });

  it('is not sufficient to erase an employee, but is to delete one', async () => {
    const tenant = await app.newTenant();
    const thief = app.as(tenant.token);
    const users = '/api/v1/admin/users';
    const { id } = (await thief.post(users, { email: 'grace@acme.example', displayName: 'Grace' })).body;
    const refused = await thief.delete(`${users}/${id}?erase=true`);
    expect([refused.status, refused.body]).toEqual([
      403,
      expect.objectContaining({ error: 're-authentication required' }),
    ]);
    expect((await thief.get(`${users}/${id}`)).body.email).toBe('grace@acme.example');
    expect((await thief.delete(`${users}/${id}`)).status).toBe(204);
    expect((await thief.delete(`${users}/${id}?erase=true`)).status).toBe(403);
    expect((await tenant.admin.delete(`${users}/${id}?erase=true`)).status).toBe(204);
  });

  it("is not sufficient to give an employee another person's e-mail, but is for the rest of the record", async () => {
    const tenant = await app.newTenant();
    const thief = app.as(tenant.token);
    const users = '/api/v1/admin/users';
    const { id } = (await thief.post(users, { email: 'grace@acme.example', displayName: 'Grace' })).body;
    const moved = { email: 'treasurer@acme.example', displayName: 'Treasurer' };
    const refused = await thief.put(`${users}/${id}`, moved);
    expect([refused.status, refused.body]).toEqual([
      403,
      expect.objectContaining({ error: 're-authentication required' }),
    ]);
    expect((await thief.get(`${users}/${id}`)).body).toMatchObject({
      email: 'grace@acme.example',
      displayName: 'Grace',
    });
    const renamed = await thief.put(`${users}/${id}`, { email: 'GRACE@acme.example', displayName: 'Grace Hopper' });
    expect([renamed.status, renamed.body.displayName]).toEqual([200, 'Grace Hopper']);
    expect((await tenant.admin.put(`${users}/${id}`, moved)).body).toMatchObject(moved);
  });

  it('is sufficient for changes that give nobody control of an account', async () => {
    const tenant = await app.newTenant();
    const client = app.as(tenant.token);
    const { status, body } = await tenant.admin.post(ADMINS, draft());
    expect(status).toBe(201);
    const one = `${ADMINS}/${body.id}`;
    expect((await client.put(one, { displayName: 'Hopper', roleType: 'viewer' })).status).toBe(200);
    expect((await client.put(one, { roleType: 'analyst' })).status).toBe(403);
    expect((await client.put(one, { status: 'suspended' })).status).toBe(200);
    expect((await client.put(one, { status: 'active' })).status).toBe(403);
    expect((await client.put(`${ADMINS}/${tenant.adminId}`, { displayName: 'Ada' })).status).toBe(200);
    expect((await client.delete(one)).status).toBe(204);
    expect((await client.post('/api/v1/admin/enrollment/token')).status).toBe(201);
  });
});

describe('a change of who controls an account', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());

  const alertsOf = async ({ admin }: TestTenant) => {
    await app.settled();
    const { alerts } = (await admin.get('/api/v1/admin/alerts?page_size=100')).body as {
      alerts: { alertType: string; severity: string; title: string; metadata: Record<string, unknown> }[];
    };
    return alerts.toReversed();
  };

  it('succeeds with the token from verify-password, and raises one alert each time', async () => {
    const tenant = await app.newTenant();
    const client = app.as(tenant.token);
    const { reAuthToken } = (await client.post('/api/v1/admin/verify-password', { password: PASSWORD })).body;
    const proved = app.as(tenant.token, { 'x-reauth-token': reAuthToken });
    const { id } = (await proved.post(ADMINS, draft({ roleType: 'super_admin' }))).body;
    expect((await proved.put(`${ADMINS}/${id}`, { email: `${randomUUID()}@acme.example` })).status).toBe(200);
    expect((await proved.put(`${ADMINS}/${id}`, { displayName: 'Nobody is told of a name' })).status).toBe(200);
    expect((await proved.post(`${ADMINS}/${id}/reset-password`)).status).toBe(200);
    expect((await proved.post(`${ADMINS}/${id}/reset-password`)).status).toBe(200);
    expect((await proved.put(`${ADMINS}/${id}`, { roleType: 'viewer', status: 'suspended' })).status).toBe(200);
    expect((await proved.delete(`${ADMINS}/${id}`)).status).toBe(204);
    await secondFactorOf(proved);
    expect((await proved.delete('/api/v1/admin/mfa')).status).toBe(204);
    const { body: config } = await proved.post('/api/v1/admin/sso-configs', provider());
    expect((await proved.put(`/api/v1/admin/sso-configs/${config.id}`, { isEnabled: false })).status).toBe(200);
    expect((await proved.delete(`/api/v1/admin/sso-configs/${config.id}`)).status).toBe(204);
    expect((await proved.delete('/api/v1/admin/certificates/ca')).status).toBe(204);
    const alerts = await alertsOf(tenant);
    expect(alerts.map(({ metadata, severity }) => [metadata['change'], severity])).toEqual([
      ['admin_created', 'high'],
      ['email_changed', 'high'],
      ['password_reset', 'high'],
      ['password_reset', 'high'],
      ['role_changed', 'medium'],
      ['admin_suspended', 'medium'],
      ['admin_deleted', 'medium'],
      ['mfa_enabled', 'high'],
      ['mfa_disabled', 'high'],
      ['identity_provider_added', 'high'],
      ['identity_provider_changed', 'high'],
      ['identity_provider_removed', 'high'],
      ['certificate_authority_removed', 'high'],
    ]);
    for (const { alertType, metadata } of alerts) {
      expect([alertType, metadata]).toEqual([
        'policy_violation',
        expect.objectContaining({ kind: 'account_control_changed', actorKind: 'admin', actorId: tenant.adminId }),
      ]);
    }
  });

  it('rejects a token of another session, of another admin, or an expired one', async () => {
    const tenant = await app.newTenant();
    const colleague = await app.adminWithRole(tenant, 'super_admin');
    const { tenantId, adminId: subjectId } = tenant;
    const { sessionId } = (await app.services.accessTokens.verify(tenant.token))!;
    const issue = (payload: object, seconds: number) =>
      app.services.oneTimeTokens.issue('reauth', { tenantId, subjectId, payload: { ...payload } }, seconds);
    const ofColleague = (await colleague.client.post('/api/v1/admin/verify-password', { password: PASSWORD })).body
      .reAuthToken as string;
    for (const token of [
      ofColleague,
      await issue({ sessionId: randomUUID() }, 300),
      await issue({ sessionId }, -1),
      'nonsense',
    ]) {
      const answer = await app.as(tenant.token, { 'x-reauth-token': token }).post(ADMINS, draft({ roleType: 'admin' }));
      expect([answer.status, answer.body]).toEqual([
        403,
        expect.objectContaining({ error: 're-authentication required' }),
      ]);
    }
  });
});

describe('concurrent requests with the right password', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());
  const statuses = async (ask: () => Promise<TestResponse>) =>
    new Set((await Promise.all(Array.from({ length: 24 }, ask))).map(({ status }) => status));

  it('do not lock each other out of a session', async () => {
    const { admin } = await app.newTenant();
    const proof = () => admin.post('/api/v1/admin/verify-password', { password: PASSWORD });
    for (let n = 0; n < 2; n += 1) expect(await statuses(proof)).toEqual(new Set([200]));
  });

  it('do not lock each other out of an account, and wrong ones are counted', async () => {
    const acme = await app.newTenant();
    const signIn = (password: string) => () =>
      app.anonymous.post('/api/v1/auth/login', { email: acme.email, password, tenantId: acme.tenantId });
    expect(await statuses(signIn(PASSWORD))).toEqual(new Set([200]));
    expect(await statuses(signIn('wrong-Password-7'))).toEqual(new Set([401]));
    expect((await signIn(PASSWORD)()).status).toBe(401);
  });
});
