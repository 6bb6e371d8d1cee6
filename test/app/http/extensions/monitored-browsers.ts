import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect } from 'vitest';
import { startApp, type Client, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';

export const BASE = '/api/v1/admin/extension-monitoring';
export const SETTINGS = `${BASE}/settings`;
export const INVENTORY = `${BASE}/inventory`;

export const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
export const installed = (extensionId: string, over: object = {}) => ({
  extensionId,
  name: `The ${extensionId}`,
  version: '1.0',
  publisher: 'Acme',
  permissions: ['tabs'],
  isEnabled: true,
  ...over,
});
export const inventory = (minutes: number, ...extensions: object[]) => ({
  eventId: randomUUID(),
  kind: 'extension_inventory',
  occurredAt: at(minutes),
  data: { extensions },
});
export const change = (minutes: number, extensionId: string, what: string, over: object = {}) => ({
  eventId: randomUUID(),
  kind: 'extension_event',
  occurredAt: at(minutes),
  data: { extensionId, change: what, ...over },
});

/** An application, and browsers that report to it. Registers what begins and ends the tests of the calling file. */
export function monitoredBrowsers() {
  let app!: TestApp;
  const open: EnrolledDevice[] = [];
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(async () => {
    for (const { client } of open) client.close();
    await app.close();
  });

  const browserOf = async (tenant: TestTenant, over: object = {}) => {
    const device = await enrolledDevice(app, tenant, { ...over });
    open.push(device);
    return device;
  };
  const send = async ({ client }: EnrolledDevice, ...events: object[]) => {
    const answer = await client.post('/api/v1/ext/events', { events });
    expect(answer.status).toBe(202);
    await app.settled();
    return answer.body as { accepted: number; duplicates: number };
  };
  const read = async ({ admin }: { admin: Client }, path: string) => {
    const answer = await admin.get(`${BASE}/${path}`);
    expect([path, answer.status]).toEqual([path, 200]);
    return answer.body;
  };
  const alertsOf = async ({ admin }: TestTenant, type: string) =>
    (await admin.get(`/api/v1/admin/alerts?alert_type=${type}`)).body.alerts as {
      id: string;
      severity: string;
      status: string;
      occurrenceCount: number;
      deviceId: string;
      eventId: string;
      metadata: Record<string, unknown>;
    }[];

  return {
    get app() {
      return app;
    },
    browserOf,
    send,
    read,
    alertsOf,
  };
}
