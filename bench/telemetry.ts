import { randomUUID } from 'node:crypto';
import { Agent, createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import { DemoDevice, sendJson, type DeviceCredentials } from '../src/app/demo/fleet.ts';
import { issueServerCertificate } from '../src/platform/pki/server-certificate.ts';
import { startBenchApp, type BenchApp } from './app.ts';
import { alternate, compare, concurrently, perSecond, type Row } from './measure.ts';

const BROWSERS = 8;
const BATCH = 500;
const BATCHES = 60;

/**
 * Telemetry from a few busy browsers, evaluated, sealed and recorded durably while read models and reactions follow,
 * compared with a bare route that only parses it. The senders share the process, and so the cores, with both sides.
 */
export async function measure(): Promise<Row[]> {
  const app = await startBenchApp();
  const browsers = await enrolled(app);
  const bare = await bareRoute();
  const ours = browsers.map((credentials) => new DemoDevice(app.tlsUrl, credentials));
  const agents = browsers.map(() => new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false }));
  const sending = (send: (browser: number, events: object[]) => Promise<{ status: number }>) => () =>
    perSecond(BATCHES * BATCH, () =>
      concurrently(BROWSERS, BATCHES, async (n) => {
        const { status } = await send(n % BROWSERS, batch());
        if (status >= 300) throw new Error(`a batch was refused with status ${status}`);
      }),
    );
  const [taken, parsed] = await alternate(3, [
    sending((browser, events) => ours[browser]!.report(events)),
    sending((browser, events) => sendJson(bare.url, 'POST', { events }, {}, agents[browser]!)),
  ]);
  for (const browser of ours) browser.close();
  for (const agent of agents) agent.destroy();
  bare.close();
  await app.stop();
  return [
    compare(
      'telemetry in batches of 500, against parsing alone',
      'observations/s',
      'report',
      taken!,
      parsed!,
      'bare route',
    ),
  ];
}

export const batch = (size = BATCH): object[] =>
  Array.from({ length: size }, (_, n) => ({
    eventId: randomUUID(),
    kind: 'navigation',
    occurredAt: new Date().toISOString(),
    domain: 'intranet.example',
    url: `https://intranet.example/page/${n}`,
    data: { title: `Page ${n}`, referrerDomain: null, technologies: [], isNewSite: false },
  }));

export async function enrolled({
  url,
  tlsUrl,
  headers,
  tenantId,
}: Pick<BenchApp, 'url' | 'tlsUrl' | 'headers' | 'tenantId'>): Promise<DeviceCredentials[]> {
  const agent = new Agent({ rejectUnauthorized: false });
  const browsers: DeviceCredentials[] = [];
  for (let n = 0; n < BROWSERS; n += 1) {
    const issued = await fetch(`${url}/api/v1/admin/enrollment/token`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{}',
    });
    const { token } = (await issued.json()) as { token: string };
    const about = {
      enrollmentToken: token,
      deviceFingerprint: randomUUID(),
      browserType: 'chrome',
      extensionVersion: '1',
    };
    browsers.push(
      (await sendJson(`${tlsUrl}/api/v1/enroll/certificate`, 'POST', about, { 'x-tenant-id': tenantId }, agent))
        .body as DeviceCredentials,
    );
  }
  return browsers;
}

async function bareRoute(): Promise<{ url: string; close(): void }> {
  const bare = fastify({ bodyLimit: 1024 * 1024 });
  bare.post('/', async (_request, reply) => reply.status(202).send({ ok: true }));
  await bare.ready();
  const { certificatePem: cert, privateKeyPem: key } = issueServerCertificate({
    hostNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    now: Date.now(),
    days: 1,
  });
  const door = createServer({ cert, key, requestCert: true, rejectUnauthorized: false }, (incoming, outgoing) =>
    bare.routing(incoming, outgoing),
  );
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(door.address() as AddressInfo).port}/`,
    close: () => {
      door.closeAllConnections();
      door.close();
    },
  };
}
