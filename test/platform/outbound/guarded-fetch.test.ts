import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import {
  guardedFetch,
  OutboundRefused,
  type GuardedFetch,
  type GuardOptions,
} from '../../../src/platform/outbound/guarded-fetch.ts';

const servers: Server[] = [];
afterEach(() =>
  Promise.all(
    servers.splice(0).map((server) => new Promise((done) => (server.closeAllConnections(), server.close(done)))),
  ),
);

async function serve(listener: RequestListener) {
  const hosts: string[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    hosts.push(request.headers.host ?? '');
    listener(request, response);
  });
  servers.push(server);
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    port: (server.address() as AddressInfo).port,
    hosts,
    connections: () => connections,
    /** Resolves once the client has closed its side too. */
    disconnect: () => Promise.all([...sockets].map((socket) => (socket.end(), once(socket, 'close')))),
  };
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

describe('an outbound call over a kept connection', () => {
  /** A connection is free again after the turn of the event loop in which its response ended. */
  const open = (over: Partial<GuardOptions> = {}): GuardedFetch => {
    const fetch = guardedFetch({ allowPrivate: true, timeoutMs: 5_000, keepsConnections: true, ...over });
    return (...call) => fetch(...call).finally(nextTurn);
  };

  it('uses the connection of the call before, and that of no other caller', async () => {
    const { port, connections } = await serve((_request, response) => response.end('hello'));
    const fetch = open();
    for (let n = 0; n < 3; n += 1) expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
    expect(connections()).toBe(1);
    await open()(`http://127.0.0.1:${port}/`);
    expect(connections()).toBe(2);
  });

  it('stays with the checked address, and checks again before another connection', async () => {
    const { port, connections, disconnect } = await serve((_request, response) => response.end());
    const addresses = ['127.0.0.1', '169.254.169.254'];
    const fetch = open({ resolve: (...asked) => names(addresses.shift()!)(...asked) });
    const url = `http://peer.example:${port}/`;
    await fetch(url);
    await fetch(url);
    expect([connections(), addresses.length]).toEqual([1, 1]);
    await disconnect();
    await expect(fetch(url)).rejects.toThrow(OutboundRefused);
    expect(connections()).toBe(1);
  });

  it('is made again if the peer closes the connection instead of responding', async () => {
    const bySocket = new Map<Socket, number>();
    const { port, hosts, connections } = await serve((request, response) => {
      const before = bySocket.get(request.socket) ?? 0;
      bySocket.set(request.socket, before + 1);
      if (before > 0) request.socket.destroy();
      else response.end();
    });
    const fetch = open();
    const send = () => fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'x' });
    expect([(await send()).status, (await send()).status]).toEqual([200, 200]);
    expect([hosts.length, connections()]).toEqual([3, 2]);
  });

  it('is made once over a new connection that the peer closes', async () => {
    const { port, connections } = await serve((request) => request.socket.destroy());
    await expect(open()(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'x' })).rejects.toThrow();
    expect(connections()).toBe(1);
  });

  it('has at most four connections to a destination', async () => {
    const held: ServerResponse[] = [];
    const { port, connections } = await serve((_request, response) => void held.push(response));
    const fetch = open();
    const calls = Array.from({ length: 6 }, () => fetch(`http://127.0.0.1:${port}/`));
    for (let ended = 0; ended < 6;) {
      const next = held.shift();
      if (next) {
        next.end();
        ended += 1;
      } else await nextTurn();
    }
    await Promise.all(calls);
    expect(connections()).toBeLessThanOrEqual(4);
  });
});
