import { expect, vi } from 'vitest';
import { auditVerify } from '../../../src/app/cli/audit.ts';
import type { StoredEvent } from '../../../src/platform/eventstore/port.ts';
import { PASSWORD, type TestApp, type TestTenant } from '../../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../../dsl/enrolled-device.ts';
import { foldedTables } from '../../dsl/folded-tables.ts';
import { hashOf, reportedLogin } from '../../dsl/observations.ts';

/** A tenant with employees and a browser, as in a backup. */
export interface Inhabited {
  readonly tenant: TestTenant;
  readonly device: Pick<EnrolledDevice, 'certificatePem' | 'privateKeyPem' | 'userId'>;
  /** E-mails of employees whose creation was acknowledged. */
  readonly employees: string[];
}

export async function inhabit(app: TestApp): Promise<Inhabited> {
  const tenant = await app.newTenant();
  const employees: string[] = [];
  const inhabited = { tenant, employees };
  await employ(app, inhabited, 'kim@acme.example');
  const device = await enrolledDevice(app, tenant);
  await reportBreach(app, { ...inhabited, device }, 'before.example');
  await app.settled();
  device.client.close();
  return { ...inhabited, device };
}

type Of = Pick<Inhabited, 'tenant' | 'employees'>;

export const tryToEmploy = async (app: TestApp, { tenant }: Pick<Inhabited, 'tenant'>, email: string) =>
  (await app.reauthenticated(tenant.token)).post('/api/v1/admin/users', { email, displayName: email });

/** An acknowledged write. */
export async function employ(app: TestApp, of: Of, email: string): Promise<void> {
  const { status, text } = await tryToEmploy(app, of, email);
  expect([status, text]).toEqual([201, expect.anything()]);
  of.employees.push(email);
}

export async function reportBreach(app: TestApp, { device }: Inhabited, domain: string): Promise<void> {
  const client = app.device(device.certificatePem, device.privateKeyPem);
  const login = reportedLogin(
    { occurredAt: new Date().toISOString(), domain, url: `https://${domain}/login` },
    { passwordHash: hashOf(domain), isBreached: true },
  );
  const { status, text } = await client.post('/api/v1/ext/events', { events: [login] });
  client.close();
  expect([status, text]).toEqual([202, expect.anything()]);
}

export const alertsOf = async (app: TestApp, { tenant }: Pick<Inhabited, 'tenant'>): Promise<string[]> => {
  const { status, body } = await app.as(tenant.token).get('/api/v1/admin/alerts');
  expect(status).toBe(200);
  return (body as { alerts: { domain: string | null }[] }).alerts.map(({ domain }) => domain ?? '');
};

/** An operator's checks after a restore: nothing is missing, and everything works. */
export async function expectSound(app: TestApp, inhabited: Inhabited, employees = inhabited.employees): Promise<void> {
  const { tenant } = inhabited;
  await app.settled();
  const login = await app.anonymous.post('/api/v1/auth/login', {
    email: tenant.email,
    password: PASSWORD,
    tenantId: tenant.tenantId,
  });
  expect(login.status).toBe(200);
  const users = await app.as(login.body.accessToken as string).get('/api/v1/admin/users?limit=100');
  const emails = (users.body as { users: { email: string | null }[] }).users.map(({ email }) => email);
  expect(emails).toEqual(expect.arrayContaining(employees));
  expect((await foldedTables(app.services)).differences).toEqual([]);
  const { said, say } = findings();
  await auditVerify(app.services, {}, say);
  expect(said).toEqual([]);
  expect(await alertsOf(app, inhabited)).toContain('before.example');
  const domain = `after-${crypto.randomUUID().slice(0, 8)}.example`;
  await reportBreach(app, inhabited, domain);
  await app.settled();
  expect(await alertsOf(app, inhabited)).toContain(domain);
  // A probe gives its sources less than a second: a busy machine may need several.
  await vi.waitFor(
    async () => expect((await app.anonymous.get('/ready')).body).toMatchObject({ ready: true, lagging: [] }),
    { timeout: 30_000, interval: 250 },
  );
}

/** Lines of a command that are not fine. */
const findings = (): { readonly said: string[]; say: (line: string) => void } => {
  const said: string[] = [];
  return { said, say: (line) => void (line.startsWith('valid') || said.push(line)) };
};

export async function eventsAfter({ services }: TestApp, position: bigint): Promise<StoredEvent[]> {
  return [...(await services.store.readAll(position, 10_000)).events];
}
