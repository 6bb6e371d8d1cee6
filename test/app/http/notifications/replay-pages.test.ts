import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { raiseAlert } from '../../../../commands/alerts/raise-alert.ts';
import { pageOfAlertEvents } from '../../../../queries/notifications/alert-event-history.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';

const ALERTS = 120;
const SIZE = 7;

describe('the pages of a replay', () => {
  let app: TestApp;
  let tenant: TestTenant;
  const raised: string[] = [];
  beforeAll(async () => {
    // A log of its own: its positions have two digits, and then three.
    app = await startApp();
    tenant = await app.newTenant();
    const execution = { tenantId: tenant.tenantId, actor: system('test') };
    const common = { alertType: 'weak_password', title: 'Weak', description: '', metadata: {} } as const;
    const nobody = { userId: null, deviceId: null, domain: null, url: null };
    for (let n = 0; n < ALERTS; n += 1) {
      const alertId = randomUUID();
      const alert = { ...common, ...nobody, alertId, fingerprint: randomUUID(), cause: randomUUID() };
      orThrow(await app.services.executor.execute(raiseAlert, alert, execution));
      raised.push(alertId);
    }
    await app.settled();
  });
  afterAll(() => app.close());

  it('have every event once, in the order of the log', async () => {
    const range = { from: new Date(0).toISOString(), to: new Date(Date.now() + 60_000).toISOString() };
    const replayed: { alertId: string; position: string }[] = [];
    for (let after = '0'; ; after = replayed.at(-1)!.position) {
      const request = { ...range, types: ['alert.created'] as const, after, size: SIZE };
      const page = orThrow(await pageOfAlertEvents(app.services.reads(tenant.tenantId), request));
      replayed.push(...page);
      if (page.length < SIZE) break;
    }
    expect(new Set(replayed.map(({ position }) => position.length)).size).toBeGreaterThan(1);
    expect(replayed.map(({ alertId }) => alertId)).toEqual(raised);
  });
});
