import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { guardedFetch, OutboundRefused, type GuardOptions } from '../../../src/platform/outbound/guarded-fetch.ts';

const servers: Server[] = [];
afterEach(() =>
  Promise.all(
    servers.splice(0).map((server) => new Promise((done) => (server.closeAllConnections(), server.close(done)))),
  ),
);

async function serve(listener: RequestListener): Promise<{ port: number; hosts: string[] }> {
  const hosts: string[] = [];
  const server = createServer((request, response) => {
    hosts.push(request.headers.host ?? '');
    listener(request, response);
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { port: (server.address() as AddressInfo).port, hosts };
}

/** A resolver that returns these addresses for every name. */
const names =
  (...addresses: string[]): NonNullable<GuardOptions['resolve']> =>
  (_name, _asked, done) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

const notPublic = [
  '127.0.0.1',
  '127.255.255.254',
  '0.0.0.0',
  '10.1.2.3',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '168.63.129.16',
  '100.64.0.1',
  '192.0.0.8',
  '192.0.2.1',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:a9fe:a9fe',
  '::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2001:0:1::1',
  '2001:db8::1',
  'fe80::1',
  'fec0::1',
  'fd00:ec2::254',
  'ff02::1',
  '100::1',
];

describe('an outbound call', () => {
  const guarded = guardedFetch({ allowPrivate: false });

  const spellings = [
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '127.0.0.1.',
    '0',
    '１２７.0.0.1',
    '127。0。0。1',
  ];
  it.each([...spellings, ...notPublic.map((address) => (address.includes(':') ? `[${address}]` : address))])(
    'is refused to %s',
    async (host) => {
      const { port, hosts } = await serve((_request, response) => response.end());
      await expect(guarded(`https://${host}:${port}/`)).rejects.toThrow(OutboundRefused);
      expect(hosts).toEqual([]);
    },
  );

  it.each(notPublic)('is refused to a name that resolves to %s', async (address) => {
    await expect(
      guardedFetch({ allowPrivate: false, resolve: names(address) })('https://peer.example/'),
    ).rejects.toThrow(OutboundRefused);
  });

  it('is refused to a name with one private address among several', async () => {
    const resolve = names('93.184.215.14', '10.0.0.1');
    await expect(guardedFetch({ allowPrivate: false, resolve })('https://peer.example/')).rejects.toThrow(
      OutboundRefused,
    );
  });

  it('is refused to a name without any address', async () => {
    await expect(guardedFetch({ allowPrivate: true, resolve: names() })('https://peer.example/')).rejects.toThrow(
      OutboundRefused,
    );
  });

  it.each([
    'http://93.184.215.14/',
    'file:///etc/passwd',
    'ftp://93.184.215.14/',
    'https://user:secret@93.184.215.14/',
    'gopher://x',
    'not a url',
    '//peer.example',
  ])('is refused to %s', async (address) => {
    await expect(guarded(address)).rejects.toThrow(OutboundRefused);
  });

  it('is refused to localhost under any name', async () => {
    await expect(guarded('https://localhost/')).rejects.toThrow(OutboundRefused);
    await expect(guarded('https://LocalHost/')).rejects.toThrow(OutboundRefused);
  });
});

describe('a permitted outbound call', () => {
  const open = (over: Partial<GuardOptions> = {}) => guardedFetch({ allowPrivate: true, timeoutMs: 5_000, ...over });

  it('goes to the checked address, looked up once, under the requested name', async () => {
    const { port, hosts } = await serve((_request, response) => response.end('hello'));
    let lookUps = 0;
    const answer = (...asked: Parameters<ReturnType<typeof names>>) =>
      names(lookUps++ === 0 ? '127.0.0.1' : '203.0.113.1')(...asked);
    const response = await open({ resolve: answer })(`http://peer.example:${port}/`);
    expect([response.status, await response.text()]).toEqual([200, 'hello']);
    expect({ hosts, lookUps }).toEqual({ hosts: [`peer.example:${port}`], lookUps: 1 });
  });

  it('sends its input', async () => {
    const { port } = await serve(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      response
        .setHeader('x-seen', `${request.method} ${request.headers['x-mine']} ${Buffer.concat(chunks).toString()}`)
        .writeHead(204)
        .end();
    });
    const response = await open()(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: { 'x-mine': '1' },
      body: 'abc',
    });
    expect([response.status, response.headers.get('x-seen')]).toEqual([204, 'POST 1 abc']);
  });

  it('does not follow redirects', async () => {
    const { port, hosts } = await serve((_request, response) =>
      response.writeHead(302, { location: '/elsewhere' }).end(),
    );
    const response = await open()(`http://127.0.0.1:${port}/`);
    expect([response.status, response.headers.get('location'), hosts.length]).toEqual([302, '/elsewhere', 1]);
  });

  it('ends at the size limit of a response', async () => {
    const { port } = await serve((_request, response) => response.end('x'.repeat(2_000)));
    await expect(open({ maxBytes: 1_000 })(`http://127.0.0.1:${port}/`)).rejects.toThrow();
    expect((await open({ maxBytes: 3_000 })(`http://127.0.0.1:${port}/`)).status).toBe(200);
  });

  it('does not decompress a compressed body, however large it would become', async () => {
    const bomb = gzipSync(Buffer.alloc(10 * 1024 * 1024));
    const { port } = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    );
    const response = await open()(`http://127.0.0.1:${port}/`);
    expect((await response.arrayBuffer()).byteLength).toBe(bomb.byteLength);
  });

  it('gives up on a peer that never responds, and on one that never ends', async () => {
    const silent = await serve(() => undefined);
    await expect(open({ timeoutMs: 200 })(`http://127.0.0.1:${silent.port}/`)).rejects.toThrow();
    const endless = await serve((_request, response) => {
      const dripping = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(dripping));
    });
    await expect(open({ timeoutMs: 300 })(`http://127.0.0.1:${endless.port}/`)).rejects.toThrow();
  });
});
