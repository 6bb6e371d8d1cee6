import { randomUUID } from 'node:crypto';
import type { Agent } from 'node:https';
import { setTimeout } from 'node:timers/promises';
import { assertDemo, perSecond, runConcurrently, type DemoOutput } from './demo-output.ts';
import { DemoDevice, sendJson, workingDay, type DeviceCredentials, type JsonResponse } from './fleet.ts';
import type { DemoTenant } from './demo-tenant.ts';

const AT_ONCE = 16;
const EVENTS_AT_ONCE = 40;
const EVERY_TENTH = 10;

export interface DemoFleet {
  readonly devices: readonly DemoDevice[];
  /** The tenant's salt for password digests. */
  readonly salt: string;
}

/** The second chapter: browsers enroll, get certificates and fetch policies. */
export async function fleetChapter(
  output: DemoOutput,
  { tenantId, admin }: DemoTenant,
  { count, tls, agent }: { count: number; tls: string; agent: Agent },
): Promise<DemoFleet> {
  output.chapter(`A fleet of ${count} browsers`);
  const { configs } = await output.step(
    'issue enrollment tokens',
    () =>
      admin('POST', '/enrollment/bulk-config', { count, format: 'json' }) as Promise<{ configs: { token: string }[] }>,
    (made, s) => `${made.configs.length}, ${perSecond(count, s)}`,
  );
  const devices = await output.step(
    'enroll, each with a certificate',
    () => runConcurrently(AT_ONCE, configs, ({ token }, index) => enroll(tls, agent, tenantId, token, index)),
    (made, s) => `${made.length} devices, ${perSecond(made.length, s)}`,
  );
  const { credentialSalt: salt } = (await devices[0]!.policies()).body as { credentialSalt: string };
  await output.step(
    'poll policies, say hello',
    () => runConcurrently(AT_ONCE, devices, async (device) => [await device.policies(), await device.heartbeat()]),
    (all, s) => `over mutual TLS, ${perSecond(all.length * 2, s)}`,
  );
  return { devices, salt };
}

/** The third chapter: a day of telemetry, a tenth of it sent twice. Each observation must count once. */
export async function dayChapter(
  output: DemoOutput,
  { admin, canary }: DemoTenant,
  { devices, salt }: DemoFleet,
  { atNoon, caughtUp }: { atNoon: () => Promise<void>; caughtUp: () => Promise<void> },
): Promise<void> {
  output.chapter('A working day of telemetry');
  const stories = devices.map((_, index) => workingDay(index, salt, canary, Date.now()));
  const reportPart = (what: string, part: (events: readonly object[]) => readonly object[]) =>
    output.step(
      what,
      () => runConcurrently(AT_ONCE, devices, (device, index) => report(device, part(stories[index]!.events))),
      (all, s) => {
        const total = all.reduce((sum, { accepted, duplicates }) => sum + accepted + duplicates, 0);
        return `${total.toLocaleString('en')} observations, ${perSecond(total, s)}`;
      },
    );
  const morning = await reportPart('report a morning, a tenth of it twice', (events) =>
    events.slice(0, events.length / 2),
  );
  await atNoon();
  const afternoon = await reportPart('report an afternoon, likewise', (events) => events.slice(events.length / 2));
  const accepted = [...morning, ...afternoon].reduce((sum, one) => sum + one.accepted, 0);
  const reported = stories.reduce((sum, { events }) => sum + events.length, 0);
  assertDemo(accepted === reported, `each of ${reported} observations counts once, not ${accepted}`);
  await output.step('wait for dashboards', caughtUp, () => 'every read model and reaction is up to date');
  const stats = (await admin('GET', '/credential-stats')) as { totalCredentials: number };
  const expected = stories.reduce((sum, { credentials }) => sum + credentials, 0);
  assertDemo(stats.totalCredentials === expected, `${expected} credentials are counted, not ${stats.totalCredentials}`);
  output.say(`    counts are exact: ${reported.toLocaleString('en')} observations, ${expected} credentials`);
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
    const responses = [await patiently(await device.report(slice), () => device.repeat(slice))];
    if (batch % EVERY_TENTH === 0)
      responses.push(await patiently(await device.repeat(slice), () => device.repeat(slice)));
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

const RETRIES = 20;

/** Repeats a request as long as the service says when to come again, as an extension does. */
async function patiently(first: JsonResponse, again: () => Promise<JsonResponse>): Promise<JsonResponse> {
  let response = first;
  for (let retries = 0; retries < RETRIES && response.retryAfter !== undefined; retries += 1) {
    await setTimeout(response.retryAfter * 1_000);
    response = await again();
  }
  return response;
}
