import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { raiseAlert } from '../../../../commands/alerts/raise-alert.ts';
import { alertTypes, defaultSeverities } from '../../../../src/contexts/alerts/domain/vocabulary.ts';
import { tenantSettings } from '../../../../src/contexts/settings/domain/tenant-settings.resource.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import { startApp, type TestApp } from '../../../dsl/app.ts';

const SETTINGS = '/api/v1/admin/settings';
const DEFAULTS = {
  extensionMode: 'learning',
  learningThreshold: 5,
  breachCheckEnabled: true,
  alertEmailEnabled: true,
  timezone: 'UTC',
  staleDeviceDays: 7,
  policyPollSeconds: 300,
  heartbeatSeconds: 300,
  screenshotEnabled: true,
  updatedAt: null,
  updatedBy: null,
};

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ eventRetentionDays: 90, streamRetentionDays: 365 });
});
afterAll(() => app.close());

describe('tenant settings', () => {
  it('exist from the start', async () => {
    const { admin } = await app.newTenant();
    expect((await admin.get(SETTINGS)).body).toEqual(DEFAULTS);
  });

  it('accept each mode and no other, and show who changed them', async () => {
    const { admin, adminId } = await app.newTenant();
    for (const extensionMode of ['learning', 'warn', 'block']) {
      expect((await admin.put(SETTINGS, { extensionMode })).body.extensionMode).toBe(extensionMode);
      expect((await admin.get(SETTINGS)).body.extensionMode).toBe(extensionMode);
    }
    expect((await admin.put(SETTINGS, { extensionMode: 'allow' })).status).toBe(400);
    expect((await admin.get(SETTINGS)).body).toMatchObject({ extensionMode: 'block', updatedBy: adminId });
  });

  it('reject wrong types and numbers out of range, without any change', async () => {
    const { admin } = await app.newTenant();
    const wrong = [
      { learningThreshold: '5' },
      { learningThreshold: 0 },
      { learningThreshold: 1_001 },
      { learningThreshold: 2.5 },
      { breachCheckEnabled: 'true' },
      { alertEmailEnabled: 1 },
      { alertEmailEnabled: null },
      { timezone: 'Mars/Olympus' },
      { staleDeviceDays: 0 },
    ];
    for (const body of wrong) {
      const { status, body: answer } = await admin.put(SETTINGS, { extensionMode: 'block', ...body });
      expect([body, status]).toEqual([body, 400]);
      expect(answer.error).toMatch(new RegExp(`^validation failed: ${Object.keys(body)[0]}: `));
    }
    expect((await admin.get(SETTINGS)).body).toEqual(DEFAULTS);
  });

  it('log who changed the mode, and only that', async () => {
    const { admin, tenantId, adminId } = await app.newTenant();
    await admin.put(SETTINGS, { extensionMode: 'warn', learningThreshold: 5 });
    const stored = await app.services.store.readStream(tenantSettings.stream(tenantId));
    expect(stored.map(({ type, data, metadata }) => [type, data, metadata.actor.id])).toEqual([
      ['ExtensionModeChanged', { extensionMode: 'warn' }, adminId],
    ]);
  });

  it('are loaded by decisions, including defaults', async () => {
    const { admin, tenantId } = await app.newTenant();
    await admin.put(SETTINGS, { staleDeviceDays: 3 });
    const { values } = await app.services.loader.load(tenantSettings.aggregate, tenantSettings.stream(tenantId));
    expect(values).toMatchObject({ staleDeviceDays: 3, extensionMode: 'learning', heartbeatSeconds: 300 });
  });
});

describe('alert severities', () => {
  const PATH = `${SETTINGS}/alert-severity`;

  it('contain every type from the start, and merge changes', async () => {
    const { admin } = await app.newTenant();
    expect((await admin.get(PATH)).body).toEqual({ severities: defaultSeverities });
    const merged = { severities: { ...defaultSeverities, weak_password: 'high', device_stale: 'medium' } };
    expect((await admin.put(PATH, { severities: { weak_password: 'high', device_stale: 'medium' } })).body).toEqual(
      merged,
    );
    expect((await admin.get(PATH)).body).toEqual(merged);
    expect(Object.keys((await admin.put(PATH, { severities: {} })).body.severities).sort()).toEqual(
      [...alertTypes].sort(),
    );
  });

  it('reject an unknown type or severity, without any change', async () => {
    const { admin } = await app.newTenant();
    for (const severities of [
      { weak_password: 'urgent' },
      { earthquake: 'high' },
      { weak_password: 'high', earthquake: 'high' },
      [],
      null,
      'high',
    ]) {
      expect((await admin.put(PATH, { severities })).status).toBe(400);
    }
    expect((await admin.put(PATH, {})).status).toBe(400);
    expect((await admin.get(PATH)).body).toEqual({ severities: defaultSeverities });
  });

  it('apply to alerts that are raised afterwards', async () => {
    const { admin, tenantId } = await app.newTenant();
    const raise = async (alertId: string) => {
      const alert = {
        title: 'Weak',
        description: '',
        userId: null,
        deviceId: null,
        domain: null,
        url: null,
        metadata: {},
        alertType: 'weak_password',
        fingerprint: alertId,
        cause: alertId,
      } as const;
      orThrow(
        await app.services.executor.execute(raiseAlert, { ...alert, alertId }, { tenantId, actor: system('test') }),
      );
      await app.settled();
    };
    const severityOf = async (alertId: string) =>
      (await admin.get(`/api/v1/admin/alerts/${alertId}`)).body.severity as string;
    const [before, after] = ['0198a000-0000-7000-8000-000000000001', '0198a000-0000-7000-8000-000000000002'];
    await raise(before);
    await admin.put(PATH, { severities: { weak_password: 'critical' } });
    await raise(after);
    expect([await severityOf(before), await severityOf(after)]).toEqual(['low', 'critical']);
  });
});

describe('mobile access by role', () => {
  const PATH = `${SETTINGS}/mobile-access-by-role`;

  it('keeps omitted roles, drops unknown keys, and returns the whole map', async () => {
    const { admin } = await app.newTenant();
    const first = await admin.put(PATH, { mobileAccess: { analyst: false, viewer: true, janitor: 'yes' } });
    expect([first.status, first.body]).toEqual([
      200,
      { mobileAccess: { super_admin: true, admin: true, analyst: false, executive: false } },
    ]);
    expect((await admin.put(PATH, { mobileAccess: { executive: true } })).body).toEqual({
      mobileAccess: { super_admin: true, admin: true, analyst: false, executive: true },
    });
  });

  it('rejects a value that is not a boolean', async () => {
    const { admin } = await app.newTenant();
    for (const mobileAccess of [{ admin: 'false' }, { admin: null }, { admin: 0 }, null, 'all'])
      expect((await admin.put(PATH, { mobileAccess })).status).toBe(400);
    expect((await admin.put(PATH, {})).status).toBe(400);
    expect((await admin.put(PATH, { mobileAccess: {} })).body.mobileAccess.admin).toBe(true);
  });
});

describe('retention', () => {
  it("is the operator's setting within the license, and is read-only", async () => {
    const { admin } = await app.newTenant({ license: { maxEventRetentionDays: 30, maxStreamRetentionDays: 730 } });
    expect((await admin.get(`${SETTINGS}/retention`)).body).toEqual({
      eventRetentionDays: 30,
      streamRetentionDays: 365,
      maxEventRetentionDays: 30,
      maxStreamRetentionDays: 730,
      updatedAt: expect.any(String),
    });
    expect((await admin.put(`${SETTINGS}/retention`, { eventRetentionDays: 1 })).status).toBe(404);
  });
});
