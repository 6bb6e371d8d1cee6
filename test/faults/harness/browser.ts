import { randomBytes, randomUUID } from 'node:crypto';
import { Agent } from 'node:https';
import { ask, type Reply } from './ask.ts';

export interface Enrolled {
  readonly deviceId: string;
  readonly userId: string;
  readonly clientCertificate: string;
  readonly clientPrivateKey: string;
}

/** An enrolled browser on one kept-alive mutual TLS connection. */
export class Browser {
  readonly enrolled: Enrolled;
  readonly #url: string;
  readonly #agent: Agent;

  constructor(tlsUrl: string, enrolled: Enrolled) {
    this.enrolled = enrolled;
    this.#url = tlsUrl;
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: 4,
      cert: enrolled.clientCertificate,
      key: enrolled.clientPrivateKey,
      rejectUnauthorized: false,
    });
  }

  policies = (timeoutMs?: number): Promise<Reply> => this.send('GET', '/api/v1/ext/policies', undefined, timeoutMs);
  report = (events: readonly object[], timeoutMs?: number): Promise<Reply> =>
    this.send('POST', '/api/v1/ext/events', { events }, timeoutMs);

  send(method: string, path: string, body?: unknown, timeoutMs?: number): Promise<Reply> {
    return ask(this.#url + path, {
      method,
      agent: this.#agent,
      ...(body === undefined ? {} : { body }),
      ...(timeoutMs ? { timeoutMs } : {}),
    });
  }

  upload(path: string, raw: Buffer, headers: Record<string, string>): Promise<Reply> {
    return ask(this.#url + path, { method: 'POST', agent: this.#agent, raw, headers });
  }

  close(): void {
    this.#agent.destroy();
  }
}

interface Where {
  readonly url: string;
  readonly tlsUrl: string;
  readonly tenantId: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A browser with its own enrollment token. */
export async function enroll({ url, tlsUrl, tenantId, headers }: Where): Promise<Enrolled> {
  const issued = await ask(`${url}/api/v1/admin/enrollment/token`, { method: 'POST', headers, body: {} });
  if (issued.status !== 201) throw new Error(`no enrollment token: ${issued.status} ${issued.text}`);
  const body = {
    enrollmentToken: issued.body.token as string,
    deviceFingerprint: randomUUID(),
    browserType: 'chrome',
    extensionVersion: '1',
  };
  const answer = await ask(`${tlsUrl}/api/v1/enroll/certificate`, {
    method: 'POST',
    headers: { 'x-tenant-id': tenantId },
    body,
  });
  if (answer.status !== 200) throw new Error(`not enrolled: ${answer.status} ${answer.text}`);
  return answer.body as Enrolled;
}

/** A page that was visited. */
export const visit = (domain: string): { eventId: string } =>
  ({
    eventId: randomUUID(),
    kind: 'navigation',
    occurredAt: new Date().toISOString(),
    domain,
    url: `https://${domain}/`,
    data: { title: 'A page', referrerDomain: null, technologies: [], isNewSite: false },
  }) as { eventId: string };

/**
 * A breached password that was entered: raises an alert about that domain. Each password is different, since equal ones
 * raise more.
 */
export const breach = (domain: string): { eventId: string } =>
  ({
    eventId: randomUUID(),
    kind: 'credential_attempt',
    occurredAt: new Date().toISOString(),
    domain,
    url: `https://${domain}/login`,
    data: {
      username: 'jo',
      passwordHash: randomBytes(32).toString('hex'),
      isBreached: true,
      action: 'warn',
      userDecision: 'cancelled',
    },
  }) as { eventId: string };
