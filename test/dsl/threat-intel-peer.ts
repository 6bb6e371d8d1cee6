import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Call {
  readonly service: 'scanner' | 'reputation';
  readonly domain: string;
  readonly apiKey: string | undefined;
}

export type Behaviour = (call: Call, response: ServerResponse) => void;

/**
 * Both services behind one address: their verdict on a domain follows from its name. Other behaviour can be configured.
 */
export async function startThreatIntelPeer() {
  const calls: Call[] = [];
  let behaviour: Behaviour = respondNormally;
  const server = createServer((request, response) => {
    const call = callOf(request);
    if (!call) return response.writeHead(410).end();
    calls.push(call);
    behaviour(call, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/below`,
    calls,
    callsAbout: (domain: string) => calls.filter((call) => call.domain === domain),
    behave: (other: Behaviour = respondNormally) => void (behaviour = other),
    close: () => new Promise<void>((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  };
}
export type ThreatIntelPeer = Awaited<ReturnType<typeof startThreatIntelPeer>>;

export const json = (response: ServerResponse, body: unknown, status = 200): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

export function respondNormally({ service, domain }: Call, response: ServerResponse): void {
  const isMalicious = domain.startsWith('evil');
  if (service === 'scanner')
    return json(response, {
      results: [
        { page: { domain }, verdicts: { malicious: isMalicious } },
        { page: { domain }, verdicts: null },
        { task: {} },
      ],
    });
  if (domain.startsWith('unheard')) return json(response, { error: { code: 'NotFoundError' } }, 404);
  json(response, {
    data: {
      id: domain,
      attributes: {
        last_analysis_stats: { harmless: 60, malicious: isMalicious ? 7 : domain.startsWith('doubtful') ? 1 : 0 },
      },
    },
  });
}

function callOf({ method, url, headers }: IncomingMessage): Call | undefined {
  const { pathname, searchParams } = new URL(url!, 'http://peer');
  if (method !== 'GET') return undefined;
  if (pathname === '/below/api/v1/search/') {
    return {
      service: 'scanner',
      domain: /^page\.domain:"(.*)"$/.exec(searchParams.get('q') ?? '')?.[1] ?? '',
      apiKey: headers['api-key'] as string | undefined,
    };
  }
  const [, domain] = /^\/below\/api\/v3\/domains\/([^/]+)$/.exec(pathname) ?? [];
  return domain === undefined
    ? undefined
    : { service: 'reputation', domain: decodeURIComponent(domain), apiKey: headers['x-apikey'] as string | undefined };
}
