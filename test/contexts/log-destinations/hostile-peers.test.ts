import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { DestinationConfig } from '../../../src/contexts/log-destinations/domain/config.ts';
import type { LogDestination } from '../../../src/contexts/log-destinations/domain/events.ts';
import { openSink } from '../../../src/contexts/log-destinations/sinks/open-sink.ts';
import { GatewayPush } from '../../../src/contexts/notifications/push/gateway-push.ts';
import {
  destinationFetch,
  PUBLIC_DESTINATION,
  unreachableDestination,
  type OutboundSettings,
} from '../../../src/platform/outbound/destinations.ts';
import { guardedFetch, OutboundRefused } from '../../../src/platform/outbound/guarded-fetch.ts';
import { NO_PRIVATE_NETWORKS } from '../../../src/platform/outbound/private-networks.ts';
import { numbered } from '../../contracts/log-sink.contract.ts';
import { logDestination, webhookConfig } from '../../dsl/log-destination.ts';
import { ownAuthority } from '../../dsl/own-authority.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

/** A server with a certificate that nobody vouches for. */
async function startPeer(respond: RequestListener) {
  const { key, cert } = ownAuthority();
  let connections = 0;
  const server = createHttpsServer({ key, cert }, respond).listen(0, '127.0.0.1');
  server.on('connection', () => (connections += 1));
  await once(server, 'listening');
  closing.push(() => new Promise((done) => (server.closeAllConnections(), server.close(done))));
  const { port } = server.address() as AddressInfo;
  return { port, url: `https://127.0.0.1:${port}`, cert, connections: () => connections };
}

/** A resolver that returns the next of these addresses at each question. */
function resolver(...addresses: string[]): NonNullable<OutboundSettings['resolve']> {
  return (_name, _asked, done) => done(null, [{ address: addresses.shift() ?? 'none left', family: 4 }]);
}

const settings = (over: Partial<OutboundSettings> = {}): OutboundSettings => ({
  devMode: false,
  outboundNetworks: NO_PRIVATE_NETWORKS,
  ...over,
});
const bucket = { bucket: 'acme-logs', region: 'eu-central-1', accessKeyId: 'AKIATEST', prefix: 'logs' };
const configs: readonly (readonly [string, (url: string) => DestinationConfig])[] = [
  ['a webhook', (url) => webhookConfig(url)],
  ['Splunk', (url) => ({ type: 'splunk_hec', url, index: null, sourceType: 'x' })],
  ['Elasticsearch', (url) => ({ type: 'elasticsearch', url, index: 'x' })],
  ['S3', (url) => ({ type: 's3', endpoint: url, ...bucket })],
];

describe.each(configs)('a log destination that is hostile: %s', (_name, configOf) => {
  const send = async (of: LogDestination, chosen: OutboundSettings): Promise<void> => {
    const sink = openSink(of, 'a-credential', { settings: chosen });
    const signal = AbortSignal.timeout(20_000);
    await sink.send([numbered(0)], signal);
    await sink.confirm(signal);
  };

  it('is not called at the addresses that its name has after it was saved', async () => {
    const peer = await startPeer((_request, response) => response.end('{}'));
    const url = `https://sink.example:${peer.port}`;
    expect(await unreachableDestination(url, settings(), PUBLIC_DESTINATION, async () => ['93.184.215.14'])).toBe(
      undefined,
    );
    const rebinding = settings({ resolve: resolver('127.0.0.1', '169.254.169.254', '10.0.0.1') });
    for (let call = 0; call < 3; call += 1)
      await expect(send(logDestination(configOf(url), { caCertificate: peer.cert }), rebinding)).rejects.toThrow(
        'the address is not public',
      );
    expect(peer.connections()).toBe(0);
  });

  it('is refused with a certificate that nobody vouches for, and the reason says so', async () => {
    const peer = await startPeer((_request, response) => response.end('{}'));
    const inDevelopment = settings({ devMode: true });
    await expect(send(logDestination(configOf(peer.url)), inDevelopment)).rejects.toThrow(
      'its certificate is not trusted: set caCertificate to the authority that issued it',
    );
    const { cert: another } = ownAuthority();
    await expect(send(logDestination(configOf(peer.url), { caCertificate: another }), inDevelopment)).rejects.toThrow(
      'its certificate is not trusted: caCertificate is another authority',
    );
  });

  it('is given up when its response does not end', async () => {
    const peer = await startPeer((_request, response) => {
      const pour = (): void =>
        void (response.destroyed || response.write('x'.repeat(65_536), () => setImmediate(pour)));
      pour();
    });
    const sending = send(logDestination(configOf(peer.url), { caCertificate: peer.cert }), settings({ devMode: true }));
    await expect(sending).rejects.toThrow('what it returned is larger than 1024 KiB');
  });
});

describe('a name that leads elsewhere after it was saved', () => {
  it('is not called for the webhook of alerts', async () => {
    const peer = await startPeer((_request, response) => response.end());
    const fetch = destinationFetch(
      settings({ resolve: resolver('127.0.0.1', '169.254.169.254') }),
      { ...PUBLIC_DESTINATION, caCertificate: peer.cert },
      { keepsConnections: true },
    );
    for (let call = 0; call < 2; call += 1)
      await expect(fetch(`https://hooks.example:${peer.port}/`)).rejects.toThrow(OutboundRefused);
    expect(peer.connections()).toBe(0);
  });

  it('is not called for a push gateway if it leads to cloud metadata', async () => {
    const fetch = guardedFetch({ allowPrivate: true, resolve: resolver('169.254.169.254'), keepsConnections: true });
    const gateway = new GatewayPush({ url: 'http://gateway.example/', token: undefined }, fetch);
    const content = { title: 'A', body: 'B', isUrgent: true, data: {} };
    const push = { platform: 'ios', token: 't', messageId: 'm', content } as never;
    expect(await gateway.send(push, AbortSignal.timeout(10_000))).toMatchObject({ kind: 'deferred' });
  });
});
