import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { DestinationConfig } from '../../../src/contexts/log-destinations/domain/config.ts';
import { logSinkContract, numbered } from '../../contracts/log-sink.contract.ts';
import { sinkOf, syslogConfig, webhookConfig } from '../../dsl/log-destination.ts';
import {
  accepted,
  failing,
  startElasticsearch,
  startHttpSink,
  startSplunk,
  startSyslog,
  type HttpLogPeer,
} from '../../dsl/log-sinks.ts';
import { ownAuthority } from '../../dsl/own-authority.ts';
import { startS3 } from '../../dsl/s3-peer.ts';

const webhook = (url: string, payload?: 'ndjson' | 'array') => webhookConfig(url, payload, { 'x-source': 'castellan' });

/** Fails and hangs as HTTP servers do. */
const troubles = (peer: HttpLogPeer, answer: Parameters<HttpLogPeer['answer']>[0]) => ({
  fail: () => peer.answer(failing(503)),
  hang: () => peer.answer(() => undefined),
  recover: () => peer.answer(answer),
  close: () => peer.close(),
});

for (const protocol of ['tcp', 'tls'] as const)
  logSinkContract(`syslog over ${protocol}`, async () => {
    const authority = ownAuthority();
    const peer = await startSyslog(protocol === 'tls' ? authority : undefined);
    return {
      sink: sinkOf(syslogConfig(peer.port, protocol), protocol === 'tls' ? { caCertificate: authority.cert } : {}),
      stored: () => peer.received,
      fail: () => peer.behave('resets'),
      hang: () => peer.behave('hangs'),
      recover: () => peer.behave('reads'),
      close: () => peer.close(),
    };
  });

logSinkContract('syslog over udp', async () => {
  const received: string[] = [];
  const server = createSocket('udp4').bind(0, '127.0.0.1');
  server.on('message', (message) => received.push(message.toString()));
  await once(server, 'listening');
  return {
    sink: sinkOf(syslogConfig((server.address() as AddressInfo).port, 'udp')),
    stored: () => received,
    fail: undefined,
    hang: undefined,
    recover: () => undefined,
    close: async () => void server.close(),
  };
});

for (const payload of ['ndjson', 'array'] as const)
  logSinkContract(`a webhook with ${payload}`, async () => {
    const stored: string[] = [];
    const answer: Parameters<HttpLogPeer['answer']>[0] = (request, response) => {
      stored.push(request.body);
      response.end();
    };
    const peer = await startHttpSink();
    peer.answer(answer);
    return { sink: sinkOf(webhook(peer.url, payload)), stored: () => stored, ...troubles(peer, answer) };
  });

logSinkContract('Splunk with indexer acknowledgement', async () => {
  const peer = await startSplunk('a-credential');
  return {
    sink: sinkOf({ type: 'splunk_hec', url: peer.url, index: 'main', sourceType: 'castellan' }),
    stored: () => peer.events.map(({ event }) => JSON.stringify(event)),
    fail: undefined,
    hang: () => peer.acknowledge(false),
    recover: () => undefined,
    close: () => peer.close(),
  };
});

logSinkContract('Elasticsearch', async () => {
  const peer = await startElasticsearch('a-credential', 'logs');
  let status: number | undefined;
  peer.refuse(() => status);
  return {
    sink: sinkOf({ type: 'elasticsearch', url: peer.url, index: 'logs' }),
    stored: () => [...peer.documents.values()].map((document) => JSON.stringify(document)),
    fail: () => void (status = 429),
    hang: () => peer.answer(() => undefined),
    recover: () => void (status = undefined),
    close: () => peer.close(),
  };
});

logSinkContract('S3', async () => {
  const bucket = { bucket: 'acme-logs', region: 'eu-central-1', accessKeyId: 'AKIATEST' };
  const peer = await startS3({ ...bucket, secretAccessKey: 'a-credential' });
  return {
    sink: sinkOf({ type: 's3', endpoint: peer.url, prefix: 'logs', ...bucket }),
    stored: () => [...peer.objects.keys()].sort().map((key) => gunzipSync(peer.objects.get(key)!).toString()),
    fail: undefined,
    hang: undefined,
    recover: () => undefined,
    close: () => peer.close(),
  };
});

describe('syslog', () => {
  it.each(['tcp', 'tls'] as const)(
    'over %s is not confirmed by a server that closes before it reads',
    async (protocol) => {
      const authority = ownAuthority();
      const peer = await startSyslog(protocol === 'tls' ? authority : undefined);
      peer.behave('closes');
      const sink = sinkOf(syslogConfig(peer.port, protocol), { caCertificate: authority.cert });
      const sending = async () => {
        await sink.send([numbered(0)], AbortSignal.timeout(20_000));
        await sink.confirm(AbortSignal.timeout(20_000));
      };
      for (let attempt = 0; attempt < 10; attempt += 1) {
        await expect(sending()).rejects.toThrow('the destination closed the connection');
        sink.close();
      }
      await peer.close();
    },
  );
});

describe('a webhook', () => {
  const signal = AbortSignal.timeout(30_000);

  it('finds the record that is refused by halving, and hands over the others', async () => {
    const peer = await startHttpSink();
    const stored: string[] = [];
    peer.answer((request, response) => {
      if (/"n":(?:7|12)\b/.test(request.body)) return void response.writeHead(422).end();
      stored.push(...request.body.trim().split('\n'));
      response.end();
    });
    const batch = Array.from({ length: 20 }, (_, n) => numbered(n));
    expect(await sinkOf(webhook(peer.url)).send(batch, signal)).toEqual(
      [7, 12].map((index) => ({ index, reason: 'the destination refuses the content' })),
    );
    expect(stored.map((line) => (JSON.parse(line) as { n: number }).n)).toEqual(
      [...Array(20).keys()].filter((n) => n !== 7 && n !== 12),
    );
    await peer.close();
  });

  it('waits if everything is refused, instead of skipping it', async () => {
    const peer = await startHttpSink();
    peer.answer(failing(400));
    const batch = Array.from({ length: 100 }, (_, n) => numbered(n));
    await expect(sinkOf(webhook(peer.url)).send(batch, signal)).rejects.toThrow('the destination refuses all records');
    await peer.close();
  });

  it('follows no redirect, and sends its token only to its own address', async () => {
    const [first, second] = [await startHttpSink(), await startHttpSink()];
    first.answer((_request, response) => void response.writeHead(307, { location: second.url }).end());
    second.answer(accepted);
    await expect(sinkOf(webhook(first.url)).send([numbered(0)], signal)).rejects.toThrow(
      'the destination redirects, which is not followed',
    );
    expect(second.received).toEqual([]);
    expect(first.received[0]!.headers).toMatchObject({ authorization: 'Bearer a-credential', 'x-source': 'castellan' });
    await Promise.all([first.close(), second.close()]);
  });

  it('bounds what it reads of a response', async () => {
    const peer = await startHttpSink();
    peer.answer((_request, response) => {
      const pour = (): void =>
        void (response.destroyed || response.write('x'.repeat(65_536), () => setImmediate(pour)));
      pour();
    });
    await expect(sinkOf(webhook(peer.url)).send([numbered(0)], signal)).rejects.toThrow('what it returned is larger');
    await peer.close();
  });
});

describe('Elasticsearch', () => {
  it.each([
    ['an API key', 'bm90LWEta2V5', 'ApiKey bm90LWEta2V5'],
    ['user and password', 'castellan:pass:word', `Basic ${Buffer.from('castellan:pass:word').toString('base64')}`],
  ])('gets %s in the form that it expects', async (_name, credential, authorization) => {
    const peer = await startHttpSink();
    peer.answer((_request, response) => void response.end('{"errors":false}'));
    const sink = sinkOf({ type: 'elasticsearch', url: peer.url, index: 'logs' }, { credential });
    expect(await sink.send([numbered(0)], AbortSignal.timeout(20_000))).toEqual([]);
    expect(peer.received[0]!.headers.authorization).toBe(authorization);
    await peer.close();
  });
});

describe('addresses', () => {
  const signal = AbortSignal.timeout(30_000);
  const bucket = { bucket: 'acme-logs', region: 'eu-central-1', accessKeyId: 'AKIATEST', prefix: 'logs' };

  it.each<[string, DestinationConfig]>([
    ['udp', syslogConfig(514, 'udp')],
    ['tcp', syslogConfig(514, 'tcp')],
    ['tls', syslogConfig(6514, 'tls')],
    ['a name over udp', syslogConfig(514, 'udp', 'localhost')],
    ['webhook', webhook('https://127.0.0.1:9')],
    ['Splunk', { type: 'splunk_hec', url: 'https://127.0.0.1:9', index: null, sourceType: 'x' }],
    ['Elasticsearch', { type: 'elasticsearch', url: 'https://127.0.0.1:9', index: 'x' }],
    ['S3', { type: 's3', endpoint: 'https://127.0.0.1:9', ...bucket }],
  ])('that are private are refused at the connection: %s', async (_name, config) => {
    const sink = sinkOf(config, { devMode: false });
    const sending = sink.send([numbered(0)], signal).then(() => sink.confirm(signal));
    await expect(sending).rejects.toThrow(/leads to a private network|is not public/);
  });

  it.each<[string, DestinationConfig]>([
    ['udp', syslogConfig(514, 'udp', '169.254.169.254')],
    ['tcp', syslogConfig(80, 'tcp', '169.254.169.254')],
    ['webhook', webhook('http://169.254.169.254/latest/meta-data')],
  ])('of cloud metadata are refused even in development: %s', async (_name, config) => {
    await expect(sinkOf(config).send([numbered(0)], signal)).rejects.toThrow(/never called|is not public/);
  });
});
