import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newLogger } from '../../../src/platform/observability/logger.ts';
import { createOrganizationAsOperator } from '../../../src/app/cli/organization-commands.ts';
import { PASSWORD, startApp, type TestApp, type TestTenant } from '../../dsl/app.ts';
import { orgLogin, orgVerify } from '../../dsl/org-second-factor.ts';
import { codeOf, login, verify } from '../../dsl/second-factor.ts';
import { cookiesOf } from '../../dsl/sso-browser.ts';

const recoveryKey = 'a-recovery-key-for-tests';
const NEW_PASSWORD = 'Another-Horse-8!';
const ORG_PASSWORD = 'Gruff-Otter-19-Lamp';
const OTHER_ORG_PASSWORD = 'Quiet-Heron-27-Bolt';

/** Every encoding of a value in a column: as text, or its bytes in hex or base64. */
const spellings = (secret: string): string[] => {
  const bytes = Buffer.from(secret);
  // Without the end: padding depends on what follows.
  return [secret, bytes.toString('hex'), bytes.toString('base64').slice(0, -4)];
};

describe('a secret that is shown once', () => {
  let app: TestApp;
  let tenant: TestTenant;
  const log: string[] = [];
  const secrets = new Map<string, string>();
  beforeAll(async () => {
    const kept = new Writable({
      write(chunk: Buffer, _encoding, done) {
        log.push(chunk.toString());
        done();
      },
    });
    app = await startApp({ recoveryKey, logLevel: 'trace' }, newLogger('trace', kept));
    tenant = await app.newTenant();
    await showEverything();
    await app.settled();
  }, 60_000);
  afterAll(() => app.close());

  /** Every secret that this part of the application issues or accepts, once each. */
  async function showEverything(): Promise<void> {
    const { admin } = tenant;
    const post = async (path: string, body: object = {}, key = 'none'): Promise<Record<string, string>> =>
      (await admin.post(path, body, { headers: { 'idempotency-key': `${path}-${key}` } })).body;
    const keep = (name: string, value: string | undefined) => {
      expect([name, typeof value]).toEqual([name, 'string']);
      secrets.set(name, value!);
    };
    keep('password', PASSWORD);
    keep('recovery key', recoveryKey);
    keep('setup access token', tenant.token);
    const setup = await post('/api/v1/admin/mfa/setup');
    keep('TOTP secret', setup['secret']);
    keep('QR code', setup['qrCode']);
    const code = await codeOf(setup['secret']!, -1);
    const { backupCodes } = (await post('/api/v1/admin/mfa/setup/verify', { code })) as unknown as {
      backupCodes: string[];
    };
    for (const [place, backup] of backupCodes.entries()) keep(`backup code ${place}`, backup);
    for (const [place, backup] of backupCodes.entries())
      keep(`backup code ${place} without its dash`, backup.replace('-', ''));
    const { mfaToken } = (await login(app, tenant)).body;
    keep('MFA token', mfaToken);
    const verified = await verify(app, mfaToken, { backupCode: backupCodes[0] });
    const signedIn = verified.body;
    keep('token of a known browser', cookiesOf(verified).split('=')[1]);
    keep('access token', signedIn.accessToken);
    keep('refresh token', signedIn.refreshToken);
    const refreshed = (await app.anonymous.post('/api/v1/auth/refresh', { refreshToken: signedIn.refreshToken })).body;
    keep('next refresh token', refreshed.refreshToken);
    keep(
      're-authentication token',
      (await post('/api/v1/admin/verify-password', { password: PASSWORD }))['reAuthToken'],
    );
    const made = await post('/api/v1/admin/admin-users', {
      email: 'grace@acme.example',
      displayName: 'Grace',
      roleType: 'analyst',
    });
    keep('temporary password', made['temporaryPassword']);
    keep(
      'temporary password of a reset',
      (await post(`/api/v1/admin/admin-users/${made['id']}/reset-password`))['temporaryPassword'],
    );
    const { tempPassword } = (
      await app.anonymous.post('/api/v1/recovery/reset', { recoveryKey, email: 'grace@acme.example' })
    ).body;
    keep('password of a recovery', tempPassword);
    const { tempToken } = (await login(app, { ...tenant, email: 'grace@acme.example' }, tempPassword)).body;
    keep('token of a forced change', tempToken);
    await app.anonymous.post('/api/v1/auth/change-password', {
      tempToken,
      newPassword: NEW_PASSWORD,
      confirmPassword: NEW_PASSWORD,
    });
    keep('chosen password', NEW_PASSWORD);
    keep('enrollment token', (await post('/api/v1/admin/enrollment/token'))['token']);
    const agentSecret = (await post('/api/v1/admin/enrollment/agent-secret'))['secret']!;
    keep('agent secret', agentSecret);
    const enrolling = { username: 'ada', upn: 'ada@acme.example', tenantId: tenant.tenantId };
    await app.anonymous.post('/api/v1/enroll/auto', enrolling, {
      headers: { 'x-tenant-id': tenant.tenantId, 'x-enrollment-secret': agentSecret },
    });
    await showOrganization(keep);
    // Errors are logged: every kind of secret again in a refused request.
    await verify(app, mfaToken, { backupCode: backupCodes[0] });
    await login(app, tenant, NEW_PASSWORD);
    await app.anonymous.post('/api/v1/auth/login', { email: tenant.email, password: PASSWORD, tenantId: 'nonsense' });
    await app.anonymous.post('/api/v1/recovery/reset', { recoveryKey, email: 'nobody@acme.example' });
    await app.anonymous.post('/api/v1/auth/refresh', { refreshToken: signedIn.refreshToken });
  }

  /** The same for an organization's admin. */
  async function showOrganization(keep: (name: string, value: string | undefined) => void): Promise<void> {
    const email = 'owner@north.example';
    const { password } = await createOrganizationAsOperator(app.services, { name: 'North', ownerEmail: email });
    keep("organization's temporary password", password);
    const { tempToken } = (await orgLogin(app, { email, password })).body;
    keep("organization's token of a forced change", tempToken);
    await app.anonymous.post('/api/v1/org/auth/change-password', {
      tempToken,
      newPassword: ORG_PASSWORD,
      confirmPassword: ORG_PASSWORD,
    });
    keep("organization's chosen password", ORG_PASSWORD);
    const signedIn = (await orgLogin(app, { email, password: ORG_PASSWORD })).body;
    keep("organization's refresh token", signedIn.refreshToken);
    const owner = app.as(signedIn.accessToken as string);
    const proof = async () => {
      const { reAuthToken } = (await owner.post('/api/v1/org/verify-password', { password: ORG_PASSWORD })).body;
      keep(`organization's re-authentication token ${secrets.size}`, reAuthToken);
      return { headers: { 'x-reauth-token': reAuthToken as string, 'idempotency-key': `org-${secrets.size}` } };
    };
    const { secret } = (await owner.post('/api/v1/org/mfa/setup', {}, await proof())).body;
    keep("organization's TOTP secret", secret);
    const { backupCodes } = (
      await owner.post('/api/v1/org/mfa/setup/verify', { code: await codeOf(secret as string, -1) }, await proof())
    ).body;
    for (const [place, backup] of (backupCodes as string[]).entries())
      keep(`organization's backup code ${place}`, backup);
    const { mfaToken } = (await orgLogin(app, { email, password: ORG_PASSWORD })).body;
    keep("organization's MFA token", mfaToken);
    await orgVerify(app, mfaToken as string, { backupCode: backupCodes[0] });
    await owner.post(
      '/api/v1/org/change-password',
      { currentPassword: ORG_PASSWORD, newPassword: OTHER_ORG_PASSWORD },
      { headers: { 'idempotency-key': 'org-change' } },
    );
    keep("organization's other password", OTHER_ORG_PASSWORD);
  }

  function expectNothingOf(where: string, text: string): void {
    for (const [name, secret] of secrets) {
      for (const spelled of spellings(secret))
        expect([where, name, text.includes(spelled)]).toEqual([where, name, false]);
    }
  }

  it('is in no table: no event, read model, token or stored response', async () => {
    const { owner } = app.services.database;
    const { rows: tables } = await owner.query<{ name: string }>(
      `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'p', 'm') and n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema'`,
    );
    expect(tables.length).toBeGreaterThan(40);
    let rows = 0;
    for (const { name } of tables) {
      const { rows: texts } = await owner.query<{ row: string }>(`select t::text as row from ${name} t`);
      rows += texts.length;
      expectNothingOf(name, texts.map(({ row }) => row).join('\n'));
    }
    expect(rows).toBeGreaterThan(100);
    // The tables that could hold them are not empty.
    for (const table of ['idempotent_answers', 'one_time_tokens', 'refresh_tokens', 'secrets']) {
      expect([table, (await owner.query(`select from ${table}`)).rowCount! > 0]).toEqual([table, true]);
    }
  });

  it('is in no line of the log', () => {
    expectNothingOf('log', log.join(''));
    expect(log.length).toBeGreaterThan(0);
  });

  it('is in no audit entry, list or later response', async () => {
    const colleague = (await app.adminWithRole(tenant, 'super_admin')).client;
    await app.settled();
    for (const path of [
      'audit-log/export?format=json',
      'audit-log/export?format=csv',
      'audit-log?page_size=100',
      'admin-users',
      'me',
      'me/sessions',
      'mfa/status',
    ]) {
      const { status, text } = await colleague.get(`/api/v1/admin/${path}`);
      expect([path, status]).toEqual([path, 200]);
      expectNothingOf(path, text);
    }
    const exported = (await colleague.get('/api/v1/admin/audit-log/export?format=json')).text;
    for (const action of [
      'admin_user.mfa_setup_started',
      'admin_user.mfa_enabled',
      'admin_user.backup_code_used',
      'admin_user.created',
      'admin_user.password_changed',
      'admin_user.sessions_revoked',
      'login.attempted',
      'login.password_confirmed',
      'login.succeeded',
      'session.started',
    ]) {
      expect(exported).toContain(action);
    }
  });

  it('would be found by the search', () => {
    const [name, secret] = [...secrets][0]!;
    for (const spelled of spellings(secret))
      expect(() => expectNothingOf('here', `before ${spelled} after`), name).toThrow();
  });
});
