import { afterAll, beforeAll } from 'vitest';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';
import { reportedLogin } from '../../../dsl/observations.ts';

export const EVENTS = '/api/v1/ext/events';
export const HEARTBEAT = '/api/v1/ext/heartbeat';
export const POLICIES = '/api/v1/ext/policies';
export const now = (hours = 0) => new Date(Date.now() + hours * 3_600_000).toISOString();
export const seen = (over: Record<string, unknown> = {}, data: Record<string, unknown> = {}) =>
  reportedLogin({ occurredAt: now(), ...over }, data);

/** An application with a tenant whose devices report. Registers what begins and ends the tests of the calling file. */
export function reportingDevices() {
  let app!: TestApp;
  let acme!: TestTenant;
  const open: EnrolledDevice[] = [];
  const newDevice = async (tenant = acme) => {
    const device = await enrolledDevice(app, tenant);
    open.push(device);
    return device;
  };
  beforeAll(async () => {
    app = await startApp();
    acme = await app.newTenant();
  });
  afterAll(async () => {
    for (const { client } of open) client.close();
    await app.close();
  });

  const alertsOf = async (userId: string, tenant = acme) => {
    await app.settled();
    const { body } = await tenant.admin.get('/api/v1/admin/alerts?page_size=100');
    return (body.alerts as Record<string, unknown>[]).filter((alert) => alert['userId'] === userId);
  };
  const credentialsOf = async (userId: string, rest = '') => {
    await app.settled();
    return (await acme.admin.get(`/api/v1/admin/users/${userId}/credentials${rest}`)).body;
  };

  return {
    get app() {
      return app;
    },
    get acme() {
      return acme;
    },
    newDevice,
    alertsOf,
    credentialsOf,
  };
}
