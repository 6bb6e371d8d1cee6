import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openProviders } from '../../../src/contexts/threat-intel/open-providers.ts';
import { ProviderFailed, type ThreatIntelProviders } from '../../../src/contexts/threat-intel/provider.ts';
import { json, startThreatIntelPeer, type Behaviour, type ThreatIntelPeer } from '../../dsl/threat-intel-peer.ts';

const KEY = 'a-key-that-nobody-shows';
const SHORT_MS = 400;

describe.each(['scanner', 'reputation'] as const)('the %s service', (service) => {
  let peer: ThreatIntelPeer;
  let providers: ThreatIntelProviders;
  /** Gives up soon. */
  let hasty: ThreatIntelProviders;
  beforeAll(async () => {
    peer = await startThreatIntelPeer();
    const address = { url: peer.url, isTrusted: true };
    providers = openProviders({ scanner: address, reputation: address });
    hasty = openProviders({ scanner: address, reputation: address }, SHORT_MS);
  });
  beforeEach(() => peer.behave());
  afterAll(() => peer.close());

  const ask = (domain: string, others = providers) => others[service].lookUp(domain, KEY);

  it('receives one domain with the key in a header, and its response is parsed', async () => {
    const [bad, good] =
      service === 'scanner'
        ? [{ isMalicious: true }, { isMalicious: false }]
        : [{ maliciousCount: 7 }, { maliciousCount: 0 }];
    expect([await ask('evil.example'), await ask('fine.example'), await ask('unheard-of.example')]).toEqual([
      bad,
      good,
      // The scanner's peer knows every host; the other service says 404.
      service === 'scanner' ? good : undefined,
    ]);
    expect(peer.calls.slice(-3)).toEqual(
      ['evil.example', 'fine.example', 'unheard-of.example'].map((domain) => ({ service, domain, apiKey: KEY })),
    );
  });

  const failures: [string, Behaviour, string][] = [
    ['is slow to begin', () => undefined, 'the service cannot be reached'],
    [
      'is slow to end',
      (_call, response) => void response.writeHead(200).write('{"data":'),
      'the service cannot be reached',
    ],
    [
      'answers without end',
      (_call, response) => void response.writeHead(200).end(Buffer.alloc(3_000_000, '[')),
      'the service cannot be reached',
    ],
    ['hangs up', (_call, response) => void response.destroy(), 'the service cannot be reached'],
    [
      'has enough of us',
      (_call, response) => json(response, {}, 429),
      'the service reports that its rate limit is reached',
    ],
    [
      'does not know the key',
      (_call, response) => json(response, { key: KEY }, 401),
      'the service refused the API key',
    ],
    ['is broken', (_call, response) => json(response, {}, 500), 'the service returned status 500'],
    [
      'answers no JSON',
      (_call, response) => void response.writeHead(200).end('<html>'),
      'the service returned an unreadable response',
    ],
    [
      'answers something else',
      (_call, response) =>
        json(response, { results: 'many', data: { attributes: { last_analysis_stats: { malicious: -1 } } } }),
      'the service returned an unreadable response',
    ],
  ];
  it.each(failures)('that %s has failed, after one call and with a fixed message', async (what, behaviour, reason) => {
    peer.behave(behaviour);
    const before = peer.calls.length;
    const error = await ask('some.example', what.startsWith('is slow') ? hasty : providers).then(
      () => undefined,
      (thrown: unknown) => thrown as Error,
    );
    expect([error?.message, error instanceof ProviderFailed, peer.calls.length - before]).toEqual([reason, true, 1]);
  });

  it('follows no redirect: the key is sent to no other address', async () => {
    const reached: string[] = [];
    const inside = createServer((request, response) => void (reached.push(request.url!), response.end('{}')));
    await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
    const location = `http://127.0.0.1:${(inside.address() as AddressInfo).port}/latest/meta-data`;
    peer.behave((_call, response) => void response.writeHead(302, { location }).end());
    await expect(ask('some.example')).rejects.toThrow('the service returned status 302');
    expect(reached).toEqual([]);
    await new Promise((resolve) => inside.close(resolve));
  });

  it('is not called at a private address that the operator did not configure', async () => {
    const address = { url: peer.url.replace('http:', 'https:'), isTrusted: false };
    const before = peer.calls.length;
    await expect(
      ask('some.example', openProviders({ scanner: address, reputation: address }, SHORT_MS)),
    ).rejects.toThrow('the address is not public');
    expect(peer.calls.length).toBe(before);
  });
});
