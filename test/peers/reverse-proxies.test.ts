import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mutualTlsClient, startApp, type Client, type TestApp, type TestTenant } from '../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../dsl/enrolled-device.ts';
import { ownAuthority } from '../dsl/own-authority.ts';
import { freePort } from '../dsl/free-port.ts';
import { programFolder, startProgram, type RunningProgram } from '../dsl/system-program.ts';

/** The configurations of `deploy`, with nothing changed but ports and paths. */
const deployed = (path: string) => readFileSync(new URL(`../../deploy/${path}`, import.meta.url), 'utf8');

interface Place {
  readonly folder: string;
  readonly app: string;
  readonly administrators: number;
  readonly devices: number;
}

interface Proxy {
  readonly program: string;
  configure(place: Place): readonly string[];
}

const PROXIES: Readonly<Record<string, Proxy>> = {
  nginx: {
    program: '/usr/sbin/nginx',
    configure({ folder, app, administrators, devices }) {
      const ports = [administrators, devices];
      const sites = deployed('nginx/castellan.conf')
        .replaceAll('/etc/nginx', folder)
        .replaceAll('127.0.0.1:8080', app)
        .replaceAll('listen 443 ssl', () => `listen 127.0.0.1:${ports.shift()} ssl`);
      const own = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((name) => `${name}_temp_path ${folder}/${name};`)
        .join('\n');
      const file = join(folder, 'nginx.conf');
      writeFileSync(
        file,
        `daemon off;\nworker_processes 1;\npid ${folder}/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${own}\n${sites}}\n`,
      );
      return ['-p', folder, '-c', file, '-e', 'stderr'];
    },
  },
  HAProxy: {
    program: '/usr/sbin/haproxy',
    configure({ folder, app, administrators, devices }) {
      const file = join(folder, 'haproxy.cfg');
      const text = deployed('haproxy/castellan.cfg')
        .replaceAll('/etc/haproxy', folder)
        .replace('bind :443 ', `bind 127.0.0.1:${administrators} `)
        .replace('bind :8443 ', `bind 127.0.0.1:${devices} `)
        .replace('127.0.0.1:8080', app);
      writeFileSync(file, text);
      return ['-f', file];
    },
  },
};

let app: TestApp;
let acme: TestTenant;
let device: EnrolledDevice;
beforeAll(async () => {
  app = await startApp({ trustedProxies: ['127.0.0.1'] });
  acme = await app.newTenant();
  device = await enrolledDevice(app, acme);
});
afterAll(async () => {
  device?.client.close();
  await app?.close();
});

for (const [name, { program, configure }] of Object.entries(PROXIES))
  describe.runIf(existsSync(program))(`${name} with the configuration of deploy/${name.toLowerCase()}`, () => {
    let folder: string;
    let place: Place;
    let running: RunningProgram;
    const clients: { close(): void }[] = [];
    beforeAll(async () => {
      folder = programFolder(name.toLowerCase());
      const { cert, key } = ownAuthority();
      const files = { 'castellan.crt': cert, 'castellan.key': key, 'castellan.pem': cert + key };
      for (const [file, text] of Object.entries({ ...files, 'any-authority.pem': cert }))
        writeFileSync(join(folder, file), text, { mode: 0o644 });
      place = {
        folder,
        app: new URL(app.url).host,
        administrators: await freePort(),
        devices: await freePort(),
      };
      running = await startProgram(program, configure(place), place.devices);
    });
    afterAll(async () => {
      for (const client of clients) client.close();
      await running?.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    const through = (port: number, { certificatePem, privateKeyPem }: Partial<EnrolledDevice> = {}): Client => {
      const client = mutualTlsClient(`https://127.0.0.1:${port}`, certificatePem ?? '', privateKeyPem ?? '');
      clients.push(client);
      return client;
    };
    const forged = () => ({ headers: { 'x-client-cert': encodeURIComponent(device.certificatePem) } });

    it('passes on the certificate of a device', async () => {
      expect((await through(place.devices, device).get('/api/v1/ext/policies')).status).toBe(200);
    });

    it('replaces a certificate that a client claims in the header', async () => {
      for (const port of [place.devices, place.administrators])
        expect((await through(port).get('/api/v1/ext/policies', forged())).status).toBe(401);
    });

    it('lets update bundles through, which are larger than any other body', async () => {
      const form = new FormData();
      form.append('file', new Blob([new Uint8Array(25 * 1024 * 1024)]), 'bundle.zip');
      const upload = new Request('http://localhost', { method: 'POST', body: form });
      const answer = await new Promise<string>((resolve, reject) => {
        const asked = request(
          `https://127.0.0.1:${place.administrators}/api/v1/admin/updates/upload`,
          {
            method: 'POST',
            rejectUnauthorized: false,
            headers: {
              authorization: `Bearer ${acme.token}`,
              'content-type': upload.headers.get('content-type')!,
            },
          },
          (response) => void text(response).then(resolve, reject),
        ).on('error', reject);
        void upload.arrayBuffer().then((body) => asked.end(Buffer.from(body)));
      });
      // The service's own refusal: this is no bundle, or the administrator has not proved who they are.
      expect(JSON.parse(answer)).toMatchObject({ code: expect.stringMatching(/^(?!payload_too_large)/) as string });
    });

    it('lets administrators in, at the address that they really come from', async () => {
      const headers = { authorization: `Bearer ${acme.token}`, 'x-forwarded-for': '203.0.113.9' };
      const client = through(place.administrators);
      expect((await client.get('/api/v1/admin/me', { headers })).status).toBe(200);
      const person = { email: `someone@${name.toLowerCase()}.example`, displayName: 'Someone' };
      expect((await client.post('/api/v1/admin/users', person, { headers })).status).toBe(201);
      await app.settled();
      const { body } = await acme.admin.get('/api/v1/admin/audit-log?action=employee.created');
      expect(body.auditLogs[0].ipAddress).toBe('127.0.0.1');
    });
  });
