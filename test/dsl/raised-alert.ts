import { randomUUID } from 'node:crypto';
import { raiseAlert, type RaiseAlert } from '../../commands/alerts/raise-alert.ts';
import { system } from '../../src/platform/kernel/actor.ts';
import { orThrow } from '../../src/platform/kernel/failure.ts';
import type { TenantId } from '../../src/platform/kernel/ids.ts';
import type { TestApp } from './app.ts';

/** Raises an alert as a reaction would. Returns its id. */
export async function raisedAlert(app: TestApp, tenantId: TenantId, over: Partial<RaiseAlert> = {}): Promise<string> {
  const alertId = randomUUID();
  const input: RaiseAlert = {
    alertId,
    alertType: 'phishing_detected',
    title: 'A password was entered on a phishing page',
    description: 'trap.test',
    fingerprint: alertId,
    userId: null,
    deviceId: null,
    domain: 'trap.test',
    url: null,
    cause: alertId,
    metadata: {},
    ...over,
  };
  orThrow(await app.services.executor.execute(raiseAlert, input, { tenantId, actor: system('test') }));
  return input.alertId;
}
