import { createServer } from 'node:https';
import { randomUUID } from 'node:crypto';
import autocannon from 'autocannon';
import fastify from 'fastify';
import { issueServerCertificate } from '../src/platform/pki/server-certificate.ts';
import { DemoDevice, sendJson, type DeviceCredentials } from '../src/app/demo/fleet.ts';
import { Agent } from 'node:https';
import { startBenchApp } from './app.ts';
import { alternate, compare, type Row } from './measure.ts';

const SECONDS = 4;

/** `GET /ext/policies` with a 304, compared with a bare Fastify route behind the same kind of listener. */
export async function measure(): Promise<Row[]> {
  const app = await startBenchApp();
  const agent = new Agent({ rejectUnauthorized: false });
  const issued = await fetch(`${app.url}/api/v1/admin/enrollment/token`, {
    method: 'POST',
    headers: { ...app.headers, 'content-type': 'application/json' },
    body: '{}',
  });
  const { token } = (await issued.json()) as { token: string };
  const body = {
    enrollmentToken: token,
    deviceFingerprint: randomUUID(),
    browserType: 'chrome',
    extensionVersion: '1',
  };
  const enrolled = (
    await sendJson(`${app.tlsUrl}/api/v1/enroll/certificate`, 'POST', body, { 'x-tenant-id': app.tenantId }, agent)
  ).body as DeviceCredentials;
  const etag = await etagOf(app.tlsUrl, enrolled);

  const bare = fastify();
  bare.get('/', async (_request, reply) => reply.status(304).send());
  await bare.ready();
  const certificate = issueServerCertificate({
    hostNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    now: Date.now(),
    days: 1,
  });
  const door = createServer(
    { cert: certificate.certificatePem, key: certificate.privateKeyPem, requestCert: true, rejectUnauthorized: false },
    (request, response) => bare.routing(request, response),
  );
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  const bareUrl = `https://127.0.0.1:${(door.address() as { port: number }).port}/`;

  const tlsOptions = { cert: enrolled.clientCertificate, key: enrolled.clientPrivateKey, rejectUnauthorized: false };
  const cannon = (url: string, headers: Record<string, string>) => async () =>
    (await autocannon({ url, headers, connections: 16, duration: SECONDS, tlsOptions } as never)).requests.average;
  const [ours, peer] = await alternate(3, [
    cannon(`${app.tlsUrl}/api/v1/ext/policies`, { 'if-none-match': etag }),
    cannon(bareUrl, {}),
  ]);
  door.closeAllConnections();
  door.close();
  agent.destroy();
  await app.stop();
  return [
    compare(
      'GET /ext/policies with If-None-Match over mutual TLS, against a bare route',
      'requests/s',
      '>= 0.4',
      ours!,
      peer!,
      'bare route',
    ),
  ];
}

async function etagOf(url: string, credentials: DeviceCredentials): Promise<string> {
  const device = new DemoDevice(url, credentials);
  const { body } = await device.policies();
  device.close();
  return `"${(body as { policyVersion: string }).policyVersion}"`;
}
