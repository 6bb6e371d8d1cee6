import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TooBusy, type FairLimiter } from '../../../src/platform/fairness/fair-limiter.ts';
import { agentSecretOf } from '../../dsl/agent-secret.ts';
import { startApp, type TestResponse, type TestApp, type TestTenant } from '../../dsl/app.ts';
import { enrolledDevice, enrollmentTokenOf, tryToEnroll } from '../../dsl/enrolled-device.ts';
import { multipart } from '../../dsl/pictures.ts';

/**
 * Occupies the whole share of one key, running and waiting, as a flood of its requests does. Returns a function that
 * ends this.
 */
function useUp(limiter: FairLimiter, key: string): () => Promise<void> {
  const begun: Promise<void>[] = [];
  try {
    for (;;) begun.push(limiter.enter(key) ?? Promise.resolve());
  } catch (error) {
    if (!(error instanceof TooBusy)) throw error;
  }
  // A waiter that has given up meanwhile holds no slot.
  return async () => {
    await Promise.all(
      begun.map((turn) =>
        turn.then(
          () => limiter.leave(key),
          () => undefined,
        ),
      ),
    );
  };
}

describe('while one tenant uses up its share, other tenants are served', () => {
  let app: TestApp;
  let busy: TestTenant;
  let other: TestTenant;
  beforeAll(async () => {
    app = await startApp();
    [busy, other] = [await app.newTenant(), await app.newTenant()];
  });
  afterAll(() => app?.close());

  const expectOnlyBusyRefused = async (limiter: FairLimiter, ask: (tenant: TestTenant) => Promise<TestResponse>) => {
    const end = useUp(limiter, busy.tenantId);
    const [refused, served] = await Promise.all([ask(busy), ask(other)]);
    await end();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect([served.status, served.text.length > 0]).toEqual([expect.toBeOneOf([200, 201]), true]);
    expect((await ask(busy)).status).toBe(served.status);
  };

  it('for uploads of signature packs', () =>
    expectOnlyBusyRefused(app.services.limits.packs, ({ admin }) => {
      const signature = { name: 'Kit', type: 'domain', pattern: 'kit.example', patternType: 'exact' };
      const pack = { name: `Kits ${randomUUID()}`, version: '1', signatures: [signature] };
      const { raw, headers } = multipart({ file: Buffer.from(JSON.stringify(pack)), type: 'application/json' });
      return admin.send('POST', '/api/v1/admin/signatures/upload', { raw, headers });
    }));

  it('for enrollments', async () => {
    const tokens = new Map<TestTenant, string[]>();
    for (const tenant of [busy, other])
      tokens.set(tenant, [await enrollmentTokenOf(tenant), await enrollmentTokenOf(tenant)]);
    await expectOnlyBusyRefused(app.services.limits.certificates, (tenant) =>
      tryToEnroll(app, tenant.tenantId, tokens.get(tenant)!.pop()!),
    );
  });

  it('for renewals of certificates', async () => {
    const { client } = await enrolledDevice(app, busy);
    const { client: others } = await enrolledDevice(app, other);
    const end = useUp(app.services.limits.certificates, busy.tenantId);
    // Not yet in their last 30 days: the command refuses them once it runs.
    const answers = await Promise.all([client, others].map((one) => one.post('/api/v1/ext/certificate/renew')));
    await end();
    expect(answers.map(({ status }) => status)).toEqual([429, 409]);
    for (const one of [client, others]) one.close();
  });

  it('for revocation lists', () =>
    expectOnlyBusyRefused(app.services.limits.certificates, ({ admin }) =>
      admin.get('/api/v1/admin/certificates/ca/crl'),
    ));

  it('for enrollments of agents', async () => {
    const secrets = new Map<TestTenant, string>();
    for (const tenant of [busy, other]) secrets.set(tenant, await agentSecretOf(tenant));
    const ask = (tenant: TestTenant) =>
      app.anonymous.post(
        '/api/v1/enroll/auto',
        { username: 'nobody', upn: 'nobody@nowhere.example', tenantId: tenant.tenantId },
        { headers: { 'x-tenant-id': tenant.tenantId, 'x-enrollment-secret': secrets.get(tenant)! } },
      );
    const end = useUp(app.services.limits.certificates, busy.tenantId);
    const [refused, served] = await Promise.all([ask(busy), ask(other)]);
    await end();
    expect([refused.status, refused.body.errorCode]).toEqual([429, 'service_unavailable']);
    expect([served.status, served.body.errorCode]).toEqual([404, 'user_not_found']);
  });

  it('and clients that only name a tenant use nothing of its share', async () => {
    const end = useUp(app.services.limits.certificates, busy.tenantId);
    const { status } = await tryToEnroll(app, busy.tenantId, 'no-such-token');
    await end();
    expect(status).not.toBe(429);
  });
});
