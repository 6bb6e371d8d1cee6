import { randomUUID, sign } from 'node:crypto';
import { Agent } from 'node:https';
import { setUpTenant } from '../../../commands/tenants/set-up-tenant.ts';
import { alerts as alertsModel } from '../../../projections/alerts/alerts.ts';
import { verifyTenant, type VerifyDependencies } from '../../contexts/audit/verify.ts';
import { diffModels, rebuildModels, type ProjectionsCliDependencies } from '../cli/projections.ts';
import { randomPassword } from '../../contexts/identity/passwords.ts';
import { system } from '../../platform/kernel/actor.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import { asTenantId } from '../../platform/kernel/ids.ts';
import { diffModel } from '../../platform/projector/diff.ts';
import { DemoDevice, sendJson, workingDay, type DeviceCredentials, type JsonResponse } from './fleet.ts';
import { runConcurrently, assertDemo, perSecond, demoOutput } from './demo-output.ts';
import type { Database } from '../../platform/database/database.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { EventCodec } from '../../platform/eventstore/codec.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { Freshness } from '../../platform/projector/freshness.ts';
import type { Projector } from '../../platform/projector/projector.ts';
import type { AnyReadModel } from '../../platform/kernel/read-model.ts';

import type { ReadModelName } from '../../platform/kernel/read-model-name.ts';

export interface DemoDependencies extends ProjectionsCliDependencies, VerifyDependencies {
  readonly database: Database;
  readonly store: EventStore;
  readonly codec: EventCodec;
  readonly executor: Executor<CommandPorts>;
  readonly freshness: Freshness;
  readonly projector: Projector;
  readonly models: readonly AnyReadModel[];
  readonly mainModels: readonly ReadModelName[];
}

export interface DemoOptions {
  readonly devices: number;
  /** URL of the service's HTTP listener. */
  readonly http: string;
  readonly tls: string;
  /** Signs the demo tenant's license; PEM. */
  readonly licenseSigningKey: Parameters<typeof sign>[2];
  /** Restarts the service at the same addresses. Left out if the demo did not start the service. */
  readonly restart?: () => Promise<DemoDependencies>;
}

interface AlertItem {
  readonly id: string;
  readonly alertType: string;
  readonly severity: string;
}

const EVENTS_AT_ONCE = 40;
const EVERY_TENTH = 10;

/** A day of a fleet, from enrollment to forensics, on a tenant of its own, through the service's listeners. */
export async function demo(
  started: DemoDependencies,
  { devices: count, http, tls, licenseSigningKey, restart }: DemoOptions,
): Promise<void> {
  let services = started;
  const agent = new Agent({ keepAlive: true, maxSockets: 16, rejectUnauthorized: false });
  demoOutput.chapter('A tenant and its administrator');
  const email = 'owner@demo.example';
  const { tenantId, password } = await demoOutput.step(
    'set up',
    () => newDemoTenant(services, email, count, licenseSigningKey),
    ({ tenantId: id }) => `tenant ${id}`,
  );
  const { accessToken } = (await demoOutput.step(
    'sign in',
    () => call(http, 'POST', '/api/v1/auth/login', { email, password, tenantId }),
    () => 'with password',
  )) as { accessToken: string };
  const admin = (method: string, path: string, body?: object) =>
    call(http, method, `/api/v1/admin${path}`, body, { authorization: `Bearer ${accessToken}` });
  await demoOutput.step(
    'switch to warn mode',
    () => admin('PUT', '/settings', { extensionMode: 'warn' }),
    () => 'learning → warn',
  );
  const canary = await demoOutput.step(
    'plant a canary cookie',
    () =>
      admin('POST', '/active-countermeasures/canary-cookies', {
        name: 'session_backup',
        domain: 'intranet.example.com',
      }) as Promise<{ id: string; name: string; domain: string }>,
    ({ domain }) => `for ${domain}`,
  );

  demoOutput.chapter(`A fleet of ${count} browsers`);
  const { configs } = await demoOutput.step(
    'issue enrollment tokens',
    () =>
      admin('POST', '/enrollment/bulk-config', { count, format: 'json' }) as Promise<{ configs: { token: string }[] }>,
    (made, s) => `${made.configs.length}, ${perSecond(count, s)}`,
  );
  const fleet = await demoOutput.step(
    'enroll, each with a certificate',
    () => runConcurrently(16, configs, ({ token }, index) => enroll(tls, agent, tenantId, token, index)),
    (made, s) => `${made.length} devices, ${perSecond(made.length, s)}`,
  );
  const { credentialSalt: salt } = (await fleet[0]!.policies()).body as { credentialSalt: string };
  await demoOutput.step(
    'poll policies, say hello',
    () => runConcurrently(16, fleet, async (device) => [await device.policies(), await device.heartbeat()]),
    (all, s) => `over mutual TLS, ${perSecond(all.length * 2, s)}`,
  );

  demoOutput.chapter('A working day of telemetry');
  const stories = fleet.map((_, index) => workingDay(index, salt, canary, Date.now()));
  const reportPart = (what: string, part: (events: readonly object[]) => readonly object[]) =>
    demoOutput.step(
      what,
      () => runConcurrently(16, fleet, (device, index) => report(device, part(stories[index]!.events))),
      (all, s) => {
        const total = all.reduce((sum, { accepted, duplicates }) => sum + accepted + duplicates, 0);
        return `${total.toLocaleString('en')} observations, ${perSecond(total, s)}`;
      },
    );
  const sent = await reportPart('report a morning, a tenth of it twice', (events) =>
    events.slice(0, events.length / 2),
  );
  if (restart)
    services = await demoOutput.step('restart the service at noon', restart, () => 'same data, same addresses');
  sent.push(...(await reportPart('report an afternoon, likewise', (events) => events.slice(events.length / 2))));
  const accepted = sent.reduce((sum, one) => sum + one.accepted, 0);
  const reported = stories.reduce((sum, { events }) => sum + events.length, 0);
  assertDemo(accepted === reported, `each of ${reported} observations counts once, not ${accepted}`);
  await demoOutput.step(
    'wait for dashboards',
    () => caughtUp(services),
    () => 'every read model and reaction is up to date',
  );
  const stats = (await admin('GET', '/credential-stats')) as { totalCredentials: number };
  const expected = stories.reduce((sum, { credentials }) => sum + credentials, 0);
  assertDemo(stats.totalCredentials === expected, `${expected} credentials are counted, not ${stats.totalCredentials}`);
  console.log(`    counts are exact: ${reported.toLocaleString('en')} observations, ${expected} credentials`);

  demoOutput.chapter('Alerts and their triage');
  const { alerts } = await demoOutput.step(
    'list alerts',
    () => admin('GET', '/alerts?page_size=100') as Promise<{ alerts: AlertItem[] }>,
    (list) => tally(list.alerts),
  );
  assertDemo(alerts.length > 0, 'the day raised alerts');
  await demoOutput.step(
    'claim, acknowledge, resolve',
    () => triage(admin, alerts),
    (done, s) => `${done} decisions, ${perSecond(done, s)}, each read back at once`,
  );

  demoOutput.chapter('A tamper-evident audit log');
  const audit = () => verifyTenant(services, tenantId);
  const first = await demoOutput.step(
    'verify the audit chain',
    audit,
    ({ entriesChecked }, s) => `valid, ${entriesChecked} entries, ${perSecond(entriesChecked, s)}`,
  );
  assertDemo(first.valid, 'the untouched chain is valid');
  await tamperWithAudit(services, tenantId, async (sequence) => {
    const verdict = await demoOutput.step(
      'change one entry in the database',
      audit,
      ({ reason, firstInvalidSequence }) => `found: ${reason} at ${firstInvalidSequence}`,
    );
    assertDemo(!verdict.valid && verdict.firstInvalidSequence === sequence, `entry ${sequence} is named`);
  });

  demoOutput.chapter('Read models that match the event log');
  const parts = { store: services.store, codec: services.codec, pool: services.database.projector };
  await services.database.owner.query(
    `update alerts set severity = 'low', title = 'nothing to see' where tenant_id = $1 and alert_id = $2`,
    [tenantId, alerts[0]!.id],
  );
  const found = await demoOutput.step(
    'change one row, then diff',
    () => diffModel(parts, alertsModel),
    ({ differences, rows }) =>
      `${rows} rows compared; ${differences.map(({ key, columns }) => `${String(key['alert_id'])} differs in ${columns.join(', ')}`).join('; ')}`,
  );
  assertDemo(
    found.differences.some(({ key }) => key['alert_id'] === alerts[0]!.id),
    'the changed row is named',
  );
  console.log('    rebuild beside the live table:');
  await rebuildModels(services, [alertsModel], undefined, {});
  await caughtUp(services);
  assertDemo((await diffModels(services, [alertsModel])) === 0, 'the rebuilt table matches the log');
  for (const device of fleet) device.close();
  agent.destroy();
}

async function newDemoTenant(
  services: DemoDependencies,
  email: string,
  devices: number,
  key: DemoOptions['licenseSigningKey'],
) {
  const tenantId = asTenantId(randomUUID());
  const password = randomPassword();
  const now = Date.now();
  const payload = Buffer.from(
    JSON.stringify({
      licenseId: randomUUID(),
      clientName: `Demo ${tenantId.slice(0, 8)}`,
      tier: 'enterprise',
      maxUsers: devices + 100,
      issuedAt: new Date(now).toISOString(),
      expiresAt: new Date(now + 30 * 86_400_000).toISOString(),
      maxEventRetentionDays: 365,
      maxStreamRetentionDays: 730,
      features: [],
    }),
  ).toString('base64url');
  const licenseKey = `${payload}.${sign(null, Buffer.from(payload, 'ascii'), key).toString('base64url')}`;
  const input = {
    name: null,
    email,
    password,
    displayName: 'Demo Owner',
    licenseKey,
    externalBaseUrl: 'https://castellan.example',
    adminId: randomUUID(),
    mustChangePassword: false,
    completesSetup: false,
  };
  const { position } = orThrow(
    await services.executor.execute(setUpTenant, input, { tenantId, actor: system('castellan demo') }),
  );
  await services.freshness.waitFor(services.mainModels, position!, 10_000);
  return { tenantId, password };
}

async function call(
  base: string,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<unknown> {
  const response = await fetch(base + path, {
    method,
    headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  assertDemo(response.ok, `${method} ${path} succeeds, not ${response.status} ${text}`);
  return text ? (JSON.parse(text) as unknown) : undefined;
}

async function enroll(
  tls: string,
  agent: Agent,
  tenantId: string,
  enrollmentToken: string,
  index: number,
): Promise<DemoDevice> {
  const browserType = (['chrome', 'edge', 'firefox', 'safari'] as const)[index % 4];
  const body = {
    enrollmentToken,
    deviceFingerprint: randomUUID(),
    browserType,
    osType: 'windows',
    extensionVersion: '4.2.0',
  };
  const response: JsonResponse = await sendJson(
    `${tls}/api/v1/enroll/certificate`,
    'POST',
    body,
    { 'x-tenant-id': tenantId },
    agent,
  );
  assertDemo(response.status === 200, `a device enrolls, not ${response.status} ${JSON.stringify(response.body)}`);
  return new DemoDevice(tls, response.body as DeviceCredentials);
}

async function report(device: DemoDevice, events: readonly object[]) {
  const sum = { accepted: 0, duplicates: 0 };
  for (let from = 0, batch = 0; from < events.length; from += EVENTS_AT_ONCE, batch += 1) {
    const slice = events.slice(from, from + EVENTS_AT_ONCE);
    const responses = [await device.report(slice)];
    if (batch % EVERY_TENTH === 0) responses.push(await device.repeat(slice));
    for (const { status, body } of responses) {
      const { accepted, duplicates, rejected } = body as { accepted: number; duplicates: number; rejected: unknown[] };
      assertDemo(
        status === 202 && rejected.length === 0,
        `telemetry is accepted, not ${status} ${JSON.stringify(body)}`,
      );
      sum.accepted += accepted;
      sum.duplicates += duplicates;
    }
  }
  return sum;
}

/** Waits until all events, including those of reactions, are projected and reacted to. */
async function caughtUp({ store, projector }: DemoDependencies): Promise<void> {
  const deadline = Date.now() + 120_000;
  for (;;) {
    const head = await store.head();
    const checkpoints = (await projector.checkpoints.all()).filter(({ state }) => state === 'live');
    const isWorked =
      checkpoints.every(({ position }) => position >= head) && (await projector.backlogs.counts()).size === 0;
    if (isWorked && (await store.head()) === head) return;
    assertDemo(Date.now() < deadline, 'the read side catches up');
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

const tally = (alerts: readonly AlertItem[]): string => {
  const counts = new Map<string, number>();
  for (const { alertType } of alerts) counts.set(alertType, (counts.get(alertType) ?? 0) + 1);
  return [...counts].map(([type, count]) => `${count} ${type}`).join(', ');
};

async function triage(
  admin: (method: string, path: string, body?: object) => Promise<unknown>,
  alerts: readonly AlertItem[],
): Promise<number> {
  const chosen = alerts.slice(0, 15);
  for (const [index, { id }] of chosen.entries()) {
    await admin('PUT', `/alerts/${id}/claim`);
    await admin('PUT', `/alerts/${id}/acknowledge`, { notes: 'looking into it' });
    const status = index % 4 === 0 ? 'false_positive' : 'resolved';
    const after = (await admin('PUT', `/alerts/${id}/resolve`, { status, resolution: 'handled in the demo' })) as {
      status: string;
    };
    assertDemo(after.status === status, 'the response shows the resolution');
  }
  return chosen.length * 3;
}

/** Changes one stored entry, as an attacker with the rights of the database owner could, and restores it afterwards. */
async function tamperWithAudit(
  { database }: DemoDependencies,
  tenantId: string,
  look: (sequence: number) => Promise<void>,
): Promise<void> {
  const { rows } = await database.owner.query<{ sequence: number; position: string; resource_id: string | null }>(
    `select sequence, position::text, resource_id from audit_log where tenant_id = $1 and position > 0 and resource_id is not null order by sequence offset 10 limit 1`,
    [tenantId],
  );
  const [{ sequence, position, resource_id: before }] = rows as [(typeof rows)[number]];
  const change = (to: string | null) =>
    database.owner.query('update audit_log set resource_id = $3 where tenant_id = $1 and position = $2', [
      tenantId,
      position,
      to,
    ]);
  await change(randomUUID());
  await look(Number(sequence));
  await change(before);
}
