import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MAX_WAITING } from '../../../src/app/http/plugins/connection-line.ts';
import { malformedRefuser } from '../../../src/app/http/plugins/malformed-requests.ts';
import { serveInOrder } from '../../../src/app/http/plugins/pipelining.ts';
import { sharedApp, type TestApp } from '../../dsl/app.ts';
import { rawRequest, sendRaw } from '../../dsl/raw-http.ts';

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;

describe('requests that a client sends without awaiting responses', () => {
  const ends: (() => void)[] = [];
  let parsed = 0;
  beforeEach(() => {
    parsed = 0;
  });
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });

  /** A server, and a connection to it that reads nothing until told to. */
  async function connected(handle: RequestListener): Promise<Socket> {
    const server = createServer();
    serveInOrder(server, handle, () => undefined);
    server.on(
      'clientError',
      malformedRefuser(() => undefined),
    );
    server.on('request', () => (parsed += 1));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.on('error', () => undefined);
    await once(client, 'connect');
    ends.push(() => {
      client.destroy();
      server.close();
      server.closeAllConnections();
    });
    return client;
  }

  /** The statuses of the responses to these bytes, until the connection ends. Each response takes `ms`. */
  async function statusesFor(bytes: string, ms = 5): Promise<string[]> {
    let received = '';
    const client = await connected(async (_request, response) => {
      await sleep(ms);
      response.end('x');
    });
    client.on('data', (chunk) => (received += chunk.toString()));
    client.write(bytes);
    await once(client, 'close');
    return [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status!);
  }

  it('are begun one after another, in order', async () => {
    const log: string[] = [];
    const client = await connected(async ({ url }, response) => {
      log.push(`begins ${url}`);
      await sleep(5);
      log.push(`ends ${url}`);
      response.end();
    });
    client.resume().write(get('/a') + get('/b') + rawRequest('GET', '/c'));
    await once(client, 'close');
    expect(log).toEqual(['begins /a', 'ends /a', 'begins /b', 'ends /b', 'begins /c', 'ends /c']);
  });

  it('are not begun while a response before them is unread', async () => {
    let begun = 0;
    const client = await connected((_request, response) => {
      begun += 1;
      response.end(Buffer.alloc(32 * 1024 * 1024));
    });
    client.write(get('/').repeat(MAX_WAITING));
    await expect.poll(() => begun).toBe(1);
    await sleep(200);
    expect(begun).toBe(1);
    client.resume();
    await expect.poll(() => begun, { timeout: 10_000 }).toBe(MAX_WAITING);
  });

  it.each([
    ['fast', (_request, response) => void response.end('x')],
    ['slow', async (_request, response) => void (await sleep(20).then(() => response.end('x')))],
  ] satisfies [string, RequestListener][])(
    'are begun up to a bound with %s responses; then the connection ends',
    async (_, handle) => {
      let begun = 0;
      let received = '';
      const client = await connected((request, response) => {
        begun += 1;
        void handle(request, response);
      });
      client.on('data', (chunk) => (received += chunk.toString()));
      client.write(get('/').repeat(50_000));
      await once(client, 'close');
      // What Node had read already: a packet or two.
      expect(parsed).toBeLessThan(10_000);
      expect(begun).toBe(1 + MAX_WAITING);
      const answers = received.split(/(?=HTTP\/1\.1 )/);
      expect(answers.map((answer) => answer.slice(9, 12))).toEqual([...Array<string>(begun).fill('200'), '429']);
      expect(answers.at(-1)).toMatch(/connection: close[\s\S]*retry-after: 1|retry-after: 1[\s\S]*connection: close/i);
    },
  );

  it('end with a request whose expectation is refused', async () => {
    const seen: string[] = [];
    let received = '';
    const client = await connected(({ url }, response) => {
      seen.push(url!);
      response.end();
    });
    client.on('data', (chunk) => (received += chunk.toString()));
    client.write(get('/a') + `GET /b HTTP/1.1\r\nhost: x\r\nexpect: much\r\n\r\n`.repeat(1_000) + get('/c'));
    await once(client, 'close');
    expect(seen).toEqual(['/a']);
    expect([...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '417']);
  });

  it('after one that ends the connection are not begun', async () => {
    const seen: string[] = [];
    const client = await connected(({ url }, response) => {
      seen.push(url!);
      response.end();
    });
    client.resume().write(rawRequest('GET', '/last') + get('/next'));
    await once(client, 'close');
    expect(seen).toEqual(['/last']);
  });

  it.each([
    ['garbage', 'GARBAGE\r\n\r\n', ['200', '200', '400']],
    ['a malformed request', 'POST /c HTTP/1.1\r\nhost: x\r\ncontent-length: x\r\n\r\n', ['200', '200', '400']],
    [
      'a malformed body',
      'POST /c HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
      ['200', '200', '400'],
    ],
  ])('and %s behind them: what is complete gets its response', async (_title, behind, expected) => {
    expect(await statusesFor(get('/a') + get('/b') + behind)).toEqual(expected);
  });

  it('and malformed bytes behind more of them than may wait: those that may are answered', async () => {
    expect(await statusesFor(`${get('/').repeat(MAX_WAITING + 4)}GARBAGE\r\n\r\n`)).toEqual([
      ...Array<string>(MAX_WAITING + 1).fill('200'),
      '429',
    ]);
  });

  it.each([
    ['alone', '', ['400']],
    ['behind a request', get('/a'), ['200', '400']],
  ])('and CONNECT %s: it is refused', async (_title, before, expected) => {
    expect(
      await statusesFor(`${before}CONNECT elsewhere.example:443 HTTP/1.1\r\nhost: elsewhere.example:443\r\n\r\n`),
    ).toEqual(expected);
  });

  it('and CONNECT, of a client that resets the connection: nobody else notices', async () => {
    let begun = 0;
    const client = await connected(async (_request, response) => {
      begun += 1;
      await sleep(50);
      response.end(Buffer.alloc(8 * 1024 * 1024));
    });
    client.write(`${get('/a')}CONNECT elsewhere.example:443 HTTP/1.1\r\nhost: elsewhere.example:443\r\n\r\n`);
    await expect.poll(() => begun).toBe(1);
    await sleep(100);
    client.resetAndDestroy();
    // An error that nobody listens for would end the process, and with it this test.
    await sleep(200);
  });

  it('and malformed bytes in the body of one: it is refused at once', async () => {
    let received = '';
    const client = await connected(() => undefined);
    client.on('data', (chunk) => (received += chunk.toString()));
    client.write('POST /a HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n');
    await once(client, 'close');
    expect([...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['400']);
  });

  it('and more behind the last one: that one gets its response', async () => {
    expect(await statusesFor(rawRequest('GET', '/last') + get('/next'))).toEqual(['200']);
  });

  describe('to the service', () => {
    let app: TestApp;
    beforeAll(async () => {
      app = await sharedApp();
    });
    afterAll(() => app.close());

    it.each(['http', 'https'])('over %s end with 429', async (protocol) => {
      const url = protocol === 'http' ? app.url : app.tlsUrl;
      const { status, body } = await sendRaw(url, get('/live').repeat(5_000));
      const others = [...body.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]);
      expect([status, others]).toEqual([200, [...Array<string>(MAX_WAITING).fill('200'), '429']]);
      expect(body).toMatch(/"code":"rate_limit_exceeded"/);
      expect(body).toMatch(/x-content-type-options: nosniff/);
    });
  });
});
