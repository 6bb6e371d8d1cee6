import { createHmac, randomUUID } from 'node:crypto';
import { Agent, request } from 'node:https';

/** The credentials that a device got when it enrolled. */
export interface DeviceCredentials {
  readonly deviceId: string;
  readonly userId: string;
  readonly clientCertificate: string;
  readonly clientPrivateKey: string;
}

export interface JsonResponse {
  readonly status: number;
  readonly body: unknown;
  /** Seconds after which the same request may succeed. */
  readonly retryAfter: number | undefined;
}

/** A browser with its certificate on one kept-alive mutual TLS connection. */
export class DemoDevice {
  readonly credentials: DeviceCredentials;
  readonly #url: string;
  readonly #agent: Agent;
  #sequence = 0;

  constructor(url: string, credentials: DeviceCredentials) {
    this.#url = url;
    this.credentials = credentials;
    // The certificate of an embedded installation is self-signed.
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: 1,
      cert: credentials.clientCertificate,
      key: credentials.clientPrivateKey,
      rejectUnauthorized: false,
    });
  }

  policies = () => this.#send('GET', '/api/v1/ext/policies');
  heartbeat = () => this.#send('POST', '/api/v1/ext/heartbeat', { extensionVersion: '4.2.0' });
  report = (events: readonly object[]) =>
    this.#send('POST', '/api/v1/ext/events', { deviceSequence: ++this.#sequence, events });
  /** Sends the same batch again, as after a lost response. */
  repeat = (events: readonly object[]) =>
    this.#send('POST', '/api/v1/ext/events', { deviceSequence: this.#sequence, events });
  close = () => this.#agent.destroy();

  #send(method: string, path: string, body?: object): Promise<JsonResponse> {
    return sendJson(this.#url + path, method, body, {}, this.#agent);
  }
}

export function sendJson(
  url: string,
  method: string,
  body: object | undefined,
  headers: Record<string, string>,
  agent: Agent,
): Promise<JsonResponse> {
  const payload = body && JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method, agent, headers: { ...(payload ? { 'content-type': 'application/json' } : {}), ...headers } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const retryAfter = response.headers['retry-after'];
          resolve({
            status: response.statusCode ?? 0,
            body: text ? (JSON.parse(text) as unknown) : undefined,
            retryAfter: retryAfter === undefined ? undefined : Number(retryAfter),
          });
        });
      },
    );
    sent.on('error', reject);
    sent.end(payload);
  });
}

/** Seeded, so that every run with the same number of devices reports the same events. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const SITES = [
  'mail.example.com',
  'crm.example.com',
  'git.example.org',
  'payroll.example.net',
  'wiki.example.com',
  'travel.example.org',
  'bank.example.net',
];
const LURES = ['examp1e-login.net', 'secure-payroll.example-verify.org'];

export interface Story {
  readonly events: readonly object[];
  /** Credentials (site and name) that this device entered. */
  readonly credentials: number;
}

/** A plausible working day of one person, with incidents on some days. */
export function workingDay(
  index: number,
  salt: string,
  canary: { id: string; name: string; domain: string },
  now: number,
): Story {
  const random = seededRandom(index + 1);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
  const username = `employee${index}@example.com`;
  const digest = (word: string) =>
    createHmac('sha256', Buffer.from(salt, 'hex')).update(`${word} of ${username}`).digest('hex');
  const at = (minute: number) => new Date(now - (480 - minute) * 60_000).toISOString();
  const seen = new Set<string>();
  const attempt = (minute: number, domain: string, word: string, isBreached = false) => {
    seen.add(domain);
    const data = {
      username,
      passwordHash: digest(word),
      isBreached,
      action: isBreached ? 'warn' : 'allow',
      userDecision: isBreached ? 'cancelled' : 'none',
    };
    return {
      eventId: randomUUID(),
      kind: 'credential_attempt',
      occurredAt: at(minute),
      domain,
      url: `https://${domain}/login`,
      data,
    };
  };
  const events: object[] = [];
  for (let minute = 0; minute < 480; minute += 6) {
    const domain = pick(SITES);
    const data = { title: 'Working', referrerDomain: null, technologies: [], isNewSite: random() < 0.03 };
    events.push({
      eventId: randomUUID(),
      kind: 'navigation',
      occurredAt: at(minute),
      domain,
      url: `https://${domain}/page/${minute}`,
      data,
    });
    if (minute % 60 === 0) events.push(attempt(minute, domain, domain));
  }
  if (index % 5 === 0)
    events.push(attempt(100, 'bank.example.net', 'same'), attempt(200, 'travel.example.org', 'same'));
  if (index % 8 === 0) events.push(attempt(150, 'crm.example.com', 'breached', true));
  if (index % 10 === 3) {
    const domain = pick(LURES);
    const data = { signals: ['phishing_signal'], action: 'warn', userDecision: 'cancelled' };
    events.push({
      eventId: randomUUID(),
      kind: 'policy_decision',
      occurredAt: at(222),
      domain,
      url: `https://${domain}/signin`,
      data,
    });
  }
  if (index % 16 === 7) {
    events.push({
      eventId: randomUUID(),
      kind: 'clickfix_detected',
      occurredAt: at(300),
      domain: LURES[0],
      url: null,
      data: { action: 'block', userDecision: 'none' },
    });
  }
  if (index % 25 === 11) {
    events.push({
      eventId: randomUUID(),
      kind: 'canary_cookie_triggered',
      occurredAt: at(333),
      domain: canary.domain,
      data: { cookieId: canary.id, cookieName: canary.name },
    });
  }
  return { events, credentials: seen.size };
}
