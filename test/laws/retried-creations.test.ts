import { samlMetadata } from '../dsl/saml-metadata.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { holdDirectorySync } from '../../commands/directory-sources/hold-directory-sync.ts';
import { startDirectorySync } from '../../commands/directory-sources/start-directory-sync.ts';
import { raiseAlert } from '../../commands/alerts/raise-alert.ts';
import { attachTenant } from '../../commands/organizations/attach-tenant.ts';
import { stageUpdate } from '../../commands/updates/stage-update.ts';
import { NOTHING_SYNCED } from '../../src/contexts/directory-sources/domain/sync-counts.ts';
import { system } from '../../src/platform/kernel/actor.ts';
import { INSTALLATION } from '../../src/platform/kernel/ids.ts';
import { orThrow } from '../../src/platform/kernel/failure.ts';
import { newAuthority } from '../../src/platform/pki/new-authority.ts';
import { issueServerCertificate } from '../../src/platform/pki/server-certificate.ts';
import { PASSWORD, startApp, type Client, type TestApp, type TestTenant, proofFor } from '../dsl/app.ts';
import { startNameServer, type NameServer } from '../fixtures/name-server.ts';
import { enrolledDevice, enrollmentTokenOf, tryToEnroll } from '../dsl/enrolled-device.ts';
import { licenseKey } from '../dsl/licenses.ts';
import { newOrganization, type TestOrganization } from '../dsl/organization.ts';
import { askForToken, newScimClient } from '../dsl/scim.ts';
import { codeOf, login, secondFactorOf, verify } from '../dsl/second-factor.ts';
import { startPortal } from '../fixtures/portal-peer.ts';
import { everyRoute, named } from './every-route.ts';

const BASE = '/api/v1/admin';
const RECOVERY_KEY = 'a-recovery-key-for-tests';

/** A request that succeeds: its preconditions and its body. */
interface Sample {
  readonly path?: string;
  readonly body?: unknown;
  readonly file?: string;
}
type Prepare = () => Sample | Promise<Sample>;

/** Routes whose second call duplicates nothing, with the effect of a second call. */
const WITHOUT_CREATION: Readonly<Record<string, string>> = {
  'POST /api/v1/admin/verify-password': 'hands out another token of five minutes',
  'POST /api/v1/org/verify-password': 'hands out another token of five minutes',
  'POST /api/v1/admin/policies/test': 'stores nothing',
  'POST /api/v1/admin/alert-notifications/push-rules/test': 'stores nothing',
  'POST /api/v1/admin/sso-configs/test': 'stores nothing',
  'POST /api/v1/admin/directory-sources/{sourceID}/test': 'stores nothing',
  'POST /api/v1/admin/integrations/log-destinations/{destID}/test': 'stores nothing',
  'POST /api/v1/admin/integrations/log-destinations/{destID}/refused/retry':
    'sends what is still in the list; the destination recognizes a record by its id',
  'POST /api/v1/admin/directory-sources/sync-all': 'skips what the first call has started',
  'POST /api/v1/org/sso-configs/test': 'stores nothing',
  'POST /api/v1/org/tenants/{tenantId}/sso-configs/test': 'stores nothing',
  'POST /api/v1/org/auth/sso/logout': 'ends the session that a retry would need',
  'POST /api/v1/admin/threat-intel/test': 'asks the service again',
  'POST /api/v1/admin/alert-notifications/webhooks/replay': 'refuses a second replay while the first is under way',
  'POST /api/v1/admin/alert-notifications/test-email': 'the delivery of the first call has had its one attempt',
  'POST /api/v1/admin/alert-notifications/test-webhook': 'the delivery of the first call has had its one attempt',
  'POST /api/v1/admin/alert-notifications/deliveries/{deliveryId}/retry':
    'refuses a second round while the first is under way',
  'POST /api/v1/admin/updates/upload': 'stages the bundle in place of the first copy',
  'POST /api/v1/admin/extension-rollouts/{rolloutId}/start': 'refuses what is no draft any more',
  'POST /api/v1/admin/extension-rollouts/{rolloutId}/pause': 'refuses what is paused',
  'POST /api/v1/admin/extension-rollouts/{rolloutId}/resume': 'refuses what is active',
  'POST /api/v1/admin/extension-rollouts/{rolloutId}/rollback': 'refuses what has ended',
  'POST /api/v1/admin/updates/download': 'changes nothing while the first download runs, or its bundle is staged',
  'POST /api/v1/admin/enrollment/tokens/revoke': 'revokes what is valid by then',
};

/** Nothing answers there. */
const directory = () => ({
  name: `Directory ${randomUUID()}`,
  type: 'okta',
  config: { orgUrl: 'https://acme.okta.example', apiToken: 'hush' },
});

const logDestination = () => ({
  name: 'SIEM',
  type: 'webhook',
  isEnabled: false,
  config: { url: 'https://siem.acme.example', token: 'hush' },
});

/** Names of fields with a value that is shown once. */
const SECRET =
  /"(?!mustChangePassword)[A-Za-z]*(?:Token|token|ecret|assword|PrivateKey|privateKey|backupCodes|qrCode)":/;
const TESTED_APART: Readonly<Record<string, string>> = {
  'POST /api/v1/auth/saml/callback': 'as the login',
  'POST /api/v1/auth/sso/exchange': 'as the login',
  'POST /api/v1/org/auth/sso/exchange': 'as the login',
  'POST /api/v1/org/auth/mfa/verify': 'as the login',
  'POST /api/v1/ext/certificate/renew': 'reads no read model',
};
/** Of this response, and not of what was created; the two that are compared by themselves. */
const OF_EACH_RESPONSE = /^(?:date|x-request-id|x-ratelimit-.*|x-stale|x-log-position|idempotent-replayed)$/;
/** These change what others need, so they are prepared and sent last. */
const LAST = ['POST /api/v1/setup/complete'];
/** Routes whose response holds no secret, and that are not called while the read side is stopped. */
const NOT_HERE: Readonly<Record<string, string>> = {
  'POST /api/v1/admin/change-password': 'an earlier case has changed the password',
  'POST /api/v1/org/change-password': 'an earlier case has changed the password',
  'POST /api/v1/admin/updates/check': 'by then there are several tenants, so the operator has to name one',
  'POST /api/v1/admin/updates/apply': 'as above',
  'POST /api/v1/admin/updates/rollback': 'as above',
  'POST /api/v1/admin/extension-monitoring/whitelist/quick-add': 'an earlier case has added the extension',
};
/** Fewer than a tenant's share. */
const AT_ONCE = 8;

const routes = everyRoute.filter(
  ({ method, access }) => method === 'POST' && (access.kind === 'admin' || access.kind === 'org'),
);
const creating = routes.filter((route) => !(named(route) in WITHOUT_CREATION));

const asksForProof = ({ access }: (typeof routes)[number]) =>
  (access.kind === 'admin' && access.reauthWhere !== undefined) ||
  ((access.kind === 'admin' || access.kind === 'org') && access.reauth === true);

describe('a creation whose response was lost', () => {
  let app: TestApp;
  let portal: Awaited<ReturnType<typeof startPortal>>;
  let names: NameServer;
  let tenant: TestTenant;
  let org: TestOrganization;
  let userId: string;
  let totpSecret: string;
  beforeAll(async () => {
    names = await startNameServer();
    portal = await startPortal('key');
    app = await startApp({
      portal: { url: portal.url, apiKey: 'key' },
      dnsServers: [names.address],
      recoveryKey: RECOVERY_KEY,
    } as never);
    tenant = await app.newTenant();
    org = await newOrganization(app);
    orThrow(
      await app.services.executor.execute(
        attachTenant,
        { attachedTenantId: tenant.tenantId },
        { tenantId: org.organizationId, actor: system('test') },
      ),
    );
    userId = (await tenant.admin.post(`${BASE}/users`, { email: address(), displayName: 'Known' })).body.id;
    await app.settled();
  });
  afterAll(async () => {
    await app.close();
    await portal.close();
    await names.close();
  });

  const address = () => `${randomUUID()}@acme.example`;
  const name = () => `n-${randomUUID()}`;
  const rules = [{ domainMatch: { type: 'wildcard', value: '*' }, condition: 'any', action: 'warn' }];
  const made = async (path: string, body: object): Promise<string> =>
    (await tenant.admin.post(`${BASE}/${path}`, body)).body.id;
  const newGroup = () => made('groups', { name: name() });
  const newSchedule = () => made('on-call/schedules', { name: name(), participants: [tenant.adminId] });
  const config = () => ({
    name: name(),
    issuerUrl: 'https://idp.example',
    clientId: 'c',
    clientSecret: 'top-secret',
    isEnabled: false,
  });
  const signature = () => ({ name: name(), type: 'url', pattern: 'login', patternType: 'exact', severity: 'low' });
  const host = () => `${randomUUID()}.example`;

  const newRollout = () => ({ version: '2.1.0', stages: [{ percent: 1 }, { percent: 2 }, { percent: 3 }] });
  let live: string | undefined;
  async function startedRollout(): Promise<string> {
    if (live) await tenant.admin.post(`${BASE}/extension-rollouts/${live}/rollback`);
    live = await made('extension-rollouts', newRollout());
    await tenant.admin.post(`${BASE}/extension-rollouts/${live}/start`);
    return live;
  }

  let updates = 0;
  async function stageNextUpdate(): Promise<void> {
    updates += 1;
    const stored = { bundleId: randomUUID(), sha256: 'a'.repeat(64), bytes: 1, pieces: 1, isSigned: true };
    const input = { bundle: { ...stored, version: `1.${updates}.0` }, runningVersion: '0.1.0' };
    orThrow(await app.services.executor.execute(stageUpdate, input, { tenantId: INSTALLATION, actor: system('test') }));
  }

  async function newAlert(): Promise<string> {
    const alertId = randomUUID();
    const input = {
      alertId,
      alertType: 'password_reuse' as const,
      title: 'Reuse',
      description: '',
      fingerprint: alertId,
      userId: null,
      deviceId: null,
      domain: 'shop.example',
      url: null,
      cause: alertId,
      metadata: {},
    };
    const { position } = orThrow(
      await app.services.executor.execute(raiseAlert, input, { tenantId: tenant.tenantId, actor: system('test') }),
    );
    await app.services.freshness.waitFor(['alerts'], position!);
    return alertId;
  }

  const samples: Readonly<Record<string, Prepare>> = {
    'POST /api/v1/admin/mfa/setup': () => ({}),
    'POST /api/v1/admin/mfa/setup/verify': async () => {
      totpSecret = (await tenant.admin.post(`${BASE}/mfa/setup`)).body.secret;
      return { body: { code: await codeOf(totpSecret) } };
    },
    'POST /api/v1/admin/admin-users': () => ({ body: { email: address(), displayName: 'Grace', roleType: 'analyst' } }),
    'POST /api/v1/admin/admin-users/{userID}/reset-password': async () => {
      const id = await made('admin-users', { email: address(), displayName: 'Grace', roleType: 'analyst' });
      return { path: `${BASE}/admin-users/${id}/reset-password` };
    },
    'POST /api/v1/admin/users': () => ({ body: { email: address(), displayName: 'Ann' } }),
    'POST /api/v1/admin/users/import': async () => {
      const known = address();
      await made('users', { email: known, displayName: 'Old' });
      return { file: `email,displayName\r\n${known},New\r\n${address()},Bo\r\n${address()},Cy\r\n` };
    },
    'POST /api/v1/admin/alerts/{alertID}/forward': async () => ({ path: `${BASE}/alerts/${await newAlert()}/forward` }),
    'POST /api/v1/admin/updates/check': () => ({}),
    'POST /api/v1/admin/updates/apply': async () => {
      await stageNextUpdate();
      return { body: {} };
    },
    'POST /api/v1/admin/updates/rollback': async () => {
      await stageNextUpdate();
      await tenant.admin.post(`${BASE}/updates/apply`);
      return {};
    },
    'POST /api/v1/admin/enrollment/token': () => ({ body: { expiresInDays: 7 } }),
    'POST /api/v1/admin/enrollment/bulk-config': () => ({ body: { count: 3 } }),
    'POST /api/v1/admin/certificates/ca': () => {
      const { certificatePem: certificate, privateKeyPem: privateKey } = newAuthority('Acme', Date.now());
      return { body: { certificate, privateKey } };
    },
    'POST /api/v1/admin/tls/certificate': () => {
      const { certificatePem: certificate, privateKeyPem: privateKey } = issueServerCertificate({
        hostNames: ['a.example'],
        ipAddresses: [],
        now: Date.now(),
        days: 30,
      });
      return { body: { certificate, privateKey } };
    },
    'POST /api/v1/admin/enrollment/agent-secret': () => ({}),
    'POST /api/v1/admin/integrations/log-destinations': () => ({ body: logDestination() }),
    'POST /api/v1/admin/integrations/log-destinations/{destID}/backfill': async () => {
      const { body } = await tenant.admin.post(`${BASE}/integrations/log-destinations`, logDestination());
      return {
        path: `${BASE}/integrations/log-destinations/${body.id as string}/backfill`,
        body: { from: '2026-01-01T00:00:00Z' },
      };
    },
    'POST /api/v1/admin/directory-sources': () => ({ body: directory() }),
    'POST /api/v1/admin/directory-sources/{sourceID}/sync': async () => {
      const { body } = await tenant.admin.post(`${BASE}/directory-sources`, directory());
      return { path: `${BASE}/directory-sources/${body.id as string}/sync`, body: {} };
    },
    'POST /api/v1/admin/directory-sources/{sourceID}/syncs/{syncId}/confirm': async () => {
      const { body } = await tenant.admin.post(`${BASE}/directory-sources`, directory());
      const sourceId = body.id as string;
      const { tenantId } = tenant;
      const execution = { tenantId, actor: system('test') };
      const start = { sourceId, trigger: 'manual', isDryRun: false } as const;
      const { result } = orThrow(await app.services.executor.execute(startDirectorySync, start, execution));
      const { syncId } = result;
      const held = { sourceId, syncId, deactivations: 10, linkedPeople: 10, counts: NOTHING_SYNCED };
      orThrow(await app.services.executor.execute(holdDirectorySync, held, execution));
      return { path: `${BASE}/directory-sources/${sourceId}/syncs/${syncId}/confirm`, body: {} };
    },
    'POST /api/v1/admin/scim/clients': () => ({ body: { name: name() } }),
    'POST /api/v1/admin/scim/clients/{clientID}/secrets': async () => {
      const { clientId } = await newScimClient(tenant);
      return { path: `${BASE}/scim/clients/${clientId}/secrets`, body: {} };
    },
    'POST /api/v1/admin/change-password': () => ({
      body: { currentPassword: PASSWORD, newPassword: `Trombone-${randomUUID()}-A1!` },
    }),
    'POST /api/v1/org/admins': () => ({ body: { email: address(), displayName: 'Grace', role: 'org_admin' } }),
    'POST /api/v1/org/admins/{adminId}/reset-password': async () => {
      const added = await org.write('POST', '/api/v1/org/admins', {
        email: address(),
        displayName: 'Grace',
        role: 'org_viewer',
      });
      return { path: `/api/v1/org/admins/${added.body.id}/reset-password` };
    },
    'POST /api/v1/org/mfa/setup': () => ({}),
    'POST /api/v1/org/mfa/setup/verify': async () => {
      const { secret } = (await org.write('POST', '/api/v1/org/mfa/setup')).body;
      return { body: { code: await codeOf(secret) } };
    },
    'POST /api/v1/org/change-password': () => ({
      body: { currentPassword: org.password, newPassword: `Trombone-${randomUUID()}-A1!` },
    }),
    'POST /api/v1/org/domains': async () => {
      const domain = host();
      const { record } = (await org.write('POST', '/api/v1/org/domains', { domain })).body;
      names.records.set(record.name, [record.value]);
      return { body: { domain } };
    },
    'POST /api/v1/admin/policies': () => ({ body: { name: name(), rules } }),
    'POST /api/v1/admin/extension-rollouts': () => ({ body: newRollout() }),
    'POST /api/v1/admin/extension-rollouts/{rolloutId}/advance': async () => ({
      path: `${BASE}/extension-rollouts/${await startedRollout()}/advance`,
    }),
    'POST /api/v1/admin/unblock-keys': () => ({ body: { domain: 'a.example', reason: 'please' } }),
    'POST /api/v1/admin/mobile/devices': () => ({ body: { platform: 'ios', pushToken: `token-${randomUUID()}` } }),
    'POST /api/v1/admin/alert-notifications/push-rules': () => ({ body: { name: name() } }),
    'POST /api/v1/admin/on-call/schedules': () => ({ body: { name: name(), participants: [tenant.adminId] } }),
    'POST /api/v1/admin/on-call/overrides': async () => ({
      body: {
        scheduleId: await newSchedule(),
        adminUserId: tenant.adminId,
        startsAt: '2030-01-01T00:00:00Z',
        endsAt: '2030-01-02T00:00:00Z',
      },
    }),
    'POST /api/v1/admin/on-call/schedules/{scheduleId}/calendar': async () => ({
      path: `${BASE}/on-call/schedules/${await newSchedule()}/calendar`,
    }),
    'POST /api/v1/admin/groups': () => ({ body: { name: name() } }),
    'POST /api/v1/admin/groups/{groupID}/members': async () => ({
      path: `${BASE}/groups/${await newGroup()}/members`,
      body: { userId },
    }),
    'POST /api/v1/admin/groups/{groupID}/policies': async () => ({
      path: `${BASE}/groups/${await newGroup()}/policies`,
      body: { policyId: await made('policies', { name: name(), rules }) },
    }),
    'POST /api/v1/admin/verification/daily-code/verify': () => ({
      body: {
        userId,
        code: app.services.ports.verificationCodes.current(tenant.tenantId, { userId, deactivations: 0 }, Date.now())
          .dailyCode,
      },
    }),
    'POST /api/v1/admin/verification/otp/verify': () => ({
      body: {
        userId,
        code: app.services.ports.verificationCodes.current(tenant.tenantId, { userId, deactivations: 0 }, Date.now())
          .otp,
      },
    }),
    'POST /api/v1/admin/domain-scope': () => ({ body: { domain: host() } }),
    'POST /api/v1/admin/phishing-whitelist': () => ({ body: { domain: host() } }),
    'POST /api/v1/admin/active-countermeasures/canary-cookies': () => ({ body: { name: name(), domain: host() } }),
    'POST /api/v1/admin/extension-monitoring/whitelist': () => ({ body: { extensionId: name(), name: 'Ext' } }),
    'POST /api/v1/admin/extension-monitoring/whitelist/quick-add': async () => {
      const { client } = await enrolledDevice(app, tenant);
      const data = {
        extensions: [
          {
            extensionId: 'blocker',
            name: 'Blocker',
            version: '1',
            publisher: 'Acme',
            permissions: [],
            isEnabled: true,
          },
        ],
      };
      const reported = await client.post('/api/v1/ext/events', {
        events: [{ eventId: randomUUID(), kind: 'extension_inventory', occurredAt: new Date().toISOString(), data }],
      });
      expect(reported.body).toMatchObject({ accepted: 1 });
      client.close();
      await app.settled();
      return { body: { extensionId: 'blocker' } };
    },
    'POST /api/v1/admin/signatures': () => ({ body: signature() }),
    'POST /api/v1/admin/clickfix-signatures': () => ({
      body: { name: name(), pattern: 'powershell', patternType: 'substring' },
    }),
    'POST /api/v1/admin/signatures/upload': () => ({
      file: JSON.stringify({ name: name(), version: '1', signatures: [signature(), signature()] }),
    }),
    'POST /api/v1/admin/sso-configs': () => ({ body: config() }),
    'POST /api/v1/admin/sso-configs/import': () => ({ body: { metadata: samlMetadata() } }),
    'POST /api/v1/org/tenants/{tenantId}/sso-configs/import': () => ({
      path: `/api/v1/org/tenants/${tenant.tenantId}/sso-configs/import`,
      body: { metadata: samlMetadata() },
    }),
    'POST /api/v1/org/sso-configs': () => ({ body: config() }),
    'POST /api/v1/org/tenants/{tenantId}/sso-configs': () => ({
      path: `/api/v1/org/tenants/${tenant.tenantId}/sso-configs`,
      body: config(),
    }),
  };

  type Proving = 'proved' | 'unproved' | 'anonymous';

  async function send(route: (typeof routes)[number], sample: Sample, key: string, proving: Proving = 'proved') {
    const headers: Record<string, string> = { 'idempotency-key': key };
    const isOrg = route.access.kind === 'org';
    if (proving !== 'anonymous') headers['authorization'] = `Bearer ${isOrg ? org.token : tenant.token}`;
    if (proving === 'proved')
      Object.assign(
        headers,
        isOrg ? { 'x-reauth-token': await org.proof() } : await proofFor(app.services, tenant.token),
      );
    let body: FormData | string | undefined;
    if (sample.file !== undefined) {
      body = new FormData();
      body.append('file', new Blob([sample.file]), 'file');
    } else if (sample.body !== undefined) {
      body = JSON.stringify(sample.body);
      headers['content-type'] = 'application/json';
    }
    const answer = await fetch(app.url + (sample.path ?? route.path), {
      method: 'POST',
      headers,
      ...(body === undefined ? {} : { body }),
    });
    return {
      status: answer.status,
      position: answer.headers.get('x-log-position'),
      replayed: answer.headers.get('idempotent-replayed'),
      headers: Object.fromEntries([...answer.headers].filter(([header]) => !OF_EACH_RESPONSE.test(header))),
      body: await answer.json(),
    };
  }

  /** The state after a process was killed between its append and its response. */
  const loseAnswers = () =>
    app.services.database.owner.query(
      `update idempotent_answers set status = null, sealed_body = null, log_position = null, running_until = now() - interval '1 second'`,
    );
  const secrets = async () => (await app.services.database.owner.query('select from secrets')).rowCount;
  const history = async () =>
    (
      await app.services.database.owner.query<{ type: string; id: string }>(
        `select type, id from events where type not like 'AuditHead%' order by position`,
      )
    ).rows;

  it('has a sample for every POST route, or a reason why there is none', () => {
    const missing = creating.map(named).filter((route) => !(route in samples));
    expect(missing, 'add requests to `samples`, or reasons to `WITHOUT_CREATION`, in this file').toEqual([]);
  });

  it.each(creating.map((route) => [named(route), route] as const))(
    '%s: the retry gets the same response, and appends nothing',
    async (_name, route) => {
      const prepare = samples[named(route)];
      if (!prepare) throw new Error(`add a request for ${named(route)} to \`samples\` in this file`);
      const sample = await prepare();
      const key = randomUUID();
      const first = await send(route, sample, key);
      expect([first.status, first.body]).toEqual([expect.toBeOneOf([200, 201, 202]), expect.anything()]);
      await app.settled();
      const [before, kept] = [await history(), await secrets()];
      const replayed = await send(route, sample, key);
      expect({ ...replayed, replayed: null }).toEqual(first);
      expect(replayed.replayed).toBe('true');
      expect(await send(route, sample, key, 'anonymous')).toMatchObject({ status: 401, replayed: null });
      const unproved = await send(route, sample, key, 'unproved');
      if (asksForProof(route))
        expect(unproved).toMatchObject({ status: 403, replayed: null, body: { error: 're-authentication required' } });
      else expect(unproved).toEqual(replayed);
      await loseAnswers();
      const retried = await send(route, sample, key);
      expect({ ...retried, position: null }).toEqual({ ...first, position: null });
      // Others may have appended meanwhile: a later position shows the creation too.
      expect(BigInt(retried.position ?? 0)).toBeGreaterThanOrEqual(BigInt(first.position ?? 0));
      await app.settled();
      expect((await history()).slice(before.length)).toEqual([]);
      expect(await secrets()).toBe(kept);
      const other =
        sample.file === undefined
          ? { ...sample, path: `${sample.path ?? route.path}?other` }
          : { ...sample, file: `${sample.file} ` };
      expect(await send(route, other, key)).toMatchObject({
        status: 409,
        body: { error: 'the idempotency key belongs to another request' },
      });
    },
  );

  describe('while the read side is stopped', () => {
    /** Requests without an admin's token whose responses hold a secret; made before the read side stops. */
    const open: Readonly<Record<string, () => Promise<() => ReturnType<Client['post']>>>> = {
      'POST /api/v1/setup/complete': async () => () =>
        app.anonymous.post('/api/v1/setup/complete', {
          email: address(),
          password: PASSWORD,
          displayName: 'First',
          licenseKey: licenseKey(),
          externalBaseUrl: 'https://castellan.example',
        }),
      // Earlier cases have changed the first admin's password.
      'POST /api/v1/auth/login': async () => {
        const other = await app.newTenant();
        await app.settled();
        return () => login(app, other);
      },
      'POST /api/v1/auth/mfa/verify': async () => {
        const { client, email } = await newAdmin();
        const { backupCodes } = await secondFactorOf(client);
        const { mfaToken } = (await login(app, { ...tenant, email })).body;
        return () => verify(app, mfaToken, { backupCode: backupCodes[0] });
      },
      'POST /api/v1/auth/refresh': async () => {
        const other = await app.newTenant();
        await app.settled();
        const { refreshToken } = (await login(app, other)).body;
        return () => app.anonymous.post('/api/v1/auth/refresh', { refreshToken });
      },
      'POST /api/v1/org/auth/login': async () => {
        const { email, password } = await newOrganization(app);
        return () => app.anonymous.post('/api/v1/org/auth/login', { email, password });
      },
      // The first admin has a second factor by now.
      'POST /api/v1/admin/mfa/setup': async () => {
        const { client } = await newAdmin();
        return () => client.post(`${BASE}/mfa/setup`);
      },
      'POST /api/v1/admin/mfa/setup/verify': async () => {
        const { client } = await newAdmin();
        const { secret } = (await client.post(`${BASE}/mfa/setup`)).body;
        return async () => client.post(`${BASE}/mfa/setup/verify`, { code: await codeOf(secret) });
      },
      // So has the owner of the organization.
      'POST /api/v1/org/mfa/setup': async () => {
        const other = await newOrganization(app);
        return () => other.write('POST', '/api/v1/org/mfa/setup');
      },
      'POST /api/v1/org/mfa/setup/verify': async () => {
        const other = await newOrganization(app);
        const { secret } = (await other.write('POST', '/api/v1/org/mfa/setup')).body;
        return async () => other.write('POST', '/api/v1/org/mfa/setup/verify', { code: await codeOf(secret) });
      },
      'POST /oauth/token': async () => {
        const client = await newScimClient(tenant);
        return () => askForToken(app, client);
      },
      'POST /oauth/introspect': async () => {
        const { clientId, clientSecret } = await newScimClient(tenant);
        return () => app.anonymous.post('/oauth/introspect', { token: 'unknown', clientId, clientSecret });
      },
      'POST /api/v1/recovery/reset': async () => {
        const { email } = await newAdmin();
        return () => app.anonymous.post('/api/v1/recovery/reset', { recoveryKey: RECOVERY_KEY, email });
      },
      'POST /api/v1/enroll/certificate': async () => {
        const token = await enrollmentTokenOf(tenant);
        return () => tryToEnroll(app, tenant.tenantId, token);
      },
    };
    const newAdmin = async () => {
      const { client, adminId } = await app.adminWithRole(tenant, 'analyst');
      await app.settled();
      return { client, email: (await tenant.admin.get(`${BASE}/admin-users/${adminId}`)).body.email as string };
    };

    it('responds to every creation in full, with its ids and secrets', { timeout: 120_000 }, async () => {
      const covered = everyRoute.filter(
        (route) => (named(route) in samples || named(route) in open) && !(named(route) in NOT_HERE),
      );
      const ready = async (route: (typeof everyRoute)[number]) => {
        const sample = open[named(route)] ? undefined : await samples[named(route)]?.();
        const request = sample ? () => send(route, sample, randomUUID()) : await open[named(route)]!();
        return async () => {
          const { status, body } = await request();
          const { response } = route;
          const isWhole = !response || 'media' in response || response.safeParse(body).success;
          const isDeclared = status === (route.status ?? 200) || (status < 300 && status in (route.otherwise ?? {}));
          return isDeclared && isWhole ? [] : [[named(route), status, body]];
        };
      };
      const requests: Awaited<ReturnType<typeof ready>>[] = [];
      for (const route of covered) if (!LAST.includes(named(route))) requests.push(await ready(route));
      await app.settled();
      await app.services.projector.stop();
      // Each request would wait a second in vain.
      vi.spyOn(app.services.freshness, 'waitFor').mockResolvedValue(false);
      const wrong: unknown[] = [];
      while (requests.length > 0)
        wrong.push(...(await Promise.all(requests.splice(0, AT_ONCE).map((send) => send()))).flat());
      for (const route of covered) if (LAST.includes(named(route))) wrong.push(...(await (await ready(route))()));
      expect(wrong).toEqual([]);
    });

    it('covers every route that shows a secret', () => {
      const shown = everyRoute.filter(
        ({ method, response }) =>
          method !== 'GET' &&
          response &&
          !('media' in response) &&
          SECRET.test(JSON.stringify(z.toJSONSchema(response, { io: 'output', unrepresentable: 'any' }))),
      );
      expect(
        shown
          .map(named)
          .filter(
            (route) =>
              !(route in samples) && !(route in open) && !(route in WITHOUT_CREATION) && !(route in TESTED_APART),
          ),
        'add requests to `open`, or where they are tested to `TESTED_APART`, in this file',
      ).toEqual([]);
    });
  });
});
