import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, type Reply } from '../faults/harness/ask.ts';
import { breach, Browser } from '../faults/harness/browser.ts';
import { addresses } from './addresses.ts';
import type { Party } from './party.ts';

/** Operations that must not suffer from another tenant. */
export const doings = ['sign-in', 'alert delivery', 'policy fetch'] as const;
export type Doing = (typeof doings)[number];

/** A response that takes longer than this counts as missing. */
const CALL_TIMEOUT_MS = 20_000;
const LOOK_AGAIN_MS = 25;

/** The well-behaved tenant. Each operation returns its duration, and rejects if it did not succeed. */
export class Neighbour {
  readonly #party: Party;
  readonly #browser: Browser;
  readonly #from = addresses(40);

  constructor(party: Party) {
    this.#party = party;
    this.#browser = new Browser(party.tlsUrl, party.browser);
  }

  do(doing: Doing): Promise<number> {
    switch (doing) {
      case 'sign-in':
        return this.#signIn();
      case 'alert delivery':
        return this.#deliverAlert();
      case 'policy fetch':
        return this.#fetchPolicies();
    }
  }

  close(): void {
    this.#browser.close();
  }

  async #signIn(): Promise<number> {
    const { url, email, password, tenantId } = this.#party;
    const reply = await ask(`${url}/api/v1/auth/login`, {
      method: 'POST',
      body: { email, password, tenantId },
      from: this.#from(),
      timeoutMs: CALL_TIMEOUT_MS,
    });
    return succeeded('sign-in', 200, reply).ms;
  }

  async #fetchPolicies(): Promise<number> {
    return succeeded('policy fetch', 200, await this.#browser.policies(CALL_TIMEOUT_MS)).ms;
  }

  /** From the report of a browser to the list of alerts that shows it. */
  async #deliverAlert(): Promise<number> {
    const started = performance.now();
    const domain = `${randomUUID()}.example`;
    const reported = succeeded('a report', 202, await this.#browser.report([breach(domain)], CALL_TIMEOUT_MS));
    if (reported.body.accepted !== 1) throw new Error(`a report was not accepted: ${reported.text}`);
    while (performance.now() - started < CALL_TIMEOUT_MS) {
      const { body } = succeeded('the list of alerts', 200, await this.#get('/api/v1/admin/alerts?page_size=20'));
      if ((body.alerts as { domain: string }[]).some((alert) => alert.domain === domain))
        return performance.now() - started;
      await sleep(LOOK_AGAIN_MS);
    }
    throw new Error(`an alert was not delivered within ${CALL_TIMEOUT_MS} ms`);
  }

  /** The watch over browser extensions: an extension that is on no whitelist raises an alert. */
  async extensionAlert(): Promise<void> {
    const { url, headers } = this.#party;
    const settings = await ask(`${url}/api/v1/admin/extension-monitoring/settings`, {
      method: 'PUT',
      headers,
      body: { alertOnUnwhitelisted: true },
      from: this.#from(),
    });
    succeeded('settings', 200, settings);
    const extensionId = randomUUID();
    const extension = {
      extensionId,
      name: 'Something',
      version: '1',
      publisher: null,
      permissions: [],
      isEnabled: true,
    };
    const inventory = {
      eventId: randomUUID(),
      kind: 'extension_inventory',
      occurredAt: new Date().toISOString(),
      domain: null,
      url: null,
      data: { extensions: [extension] },
    };
    succeeded('an inventory', 202, await this.#browser.report([inventory], CALL_TIMEOUT_MS));
    for (const deadline = Date.now() + CALL_TIMEOUT_MS; Date.now() < deadline; await sleep(LOOK_AGAIN_MS * 4)) {
      const { text } = succeeded(
        'the list of alerts',
        200,
        await this.#get('/api/v1/admin/alerts?alert_type=unwhitelisted_extension'),
      );
      if (text.includes(extensionId)) return;
    }
    throw new Error(`an alert about an extension was not delivered within ${CALL_TIMEOUT_MS} ms`);
  }

  #get(path: string): Promise<Reply> {
    const { url, headers } = this.#party;
    return ask(url + path, { headers, from: this.#from(), timeoutMs: CALL_TIMEOUT_MS });
  }
}

function succeeded(what: string, status: number, reply: Reply): Reply {
  if (reply.status !== status) throw new Error(`${what}: ${reply.status} ${reply.text.slice(0, 200)}`);
  return reply;
}
