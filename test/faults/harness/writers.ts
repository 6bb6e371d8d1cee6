import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, type Reply } from './ask.ts';
import { breach, visit, type Browser } from './browser.ts';
import type { Journal, Kind } from './journal.ts';

/** Where writers write, in its current state: a restarted node keeps its address, a session may be a new one. */
export interface Written {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly browsers: readonly Browser[];
}

/** A writer gives up on a response after this long, and then does not know the outcome of its write. */
const DEADLINE_MS = 8_000;
const PAUSE_MS = 40;
const REPORT_PAUSE_MS = 200;
const POLICY_PAUSE_MS = 500;
/** One of this many reports of a browser raises an alert. */
const REPORTS_AN_ALERT = 4;

/** Clients that write without a break until they are stopped, and keep a journal of the responses. */
export class Writers {
  readonly #journal: Journal;
  readonly #where: Written;
  readonly #running: Promise<unknown>;
  #stopped = false;

  constructor(journal: Journal, where: Written) {
    this.#journal = journal;
    this.#where = where;
    const writers = [
      this.#again(PAUSE_MS, () => this.#employee()),
      this.#again(PAUSE_MS, () => this.#employee()),
      this.#again(PAUSE_MS, () => this.#whitelistEntry()),
      this.#again(POLICY_PAUSE_MS, () => this.#policy()),
      this.#again(REPORT_PAUSE_MS, () => this.#resolution()),
      ...where.browsers.map((browser) => this.#again(REPORT_PAUSE_MS, (turn) => this.#report(browser, turn))),
    ];
    this.#running = Promise.all(writers);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #again(pauseMs: number, write: (turn: number) => Promise<void>): Promise<void> {
    for (let turn = 0; !this.#stopped; turn += 1) {
      await write(turn);
      await sleep(pauseMs);
    }
  }

  async #employee(): Promise<void> {
    const email = `${randomUUID()}@acme.example`;
    this.#note(
      'employee',
      [email],
      await this.#send('POST', '/api/v1/admin/users', { email, displayName: 'Somebody' }),
    );
  }

  async #whitelistEntry(): Promise<void> {
    const extensionId = randomUUID();
    this.#note(
      'whitelist entry',
      [extensionId],
      await this.#send('POST', '/api/v1/admin/extension-monitoring/whitelist', { extensionId }),
    );
  }

  async #policy(): Promise<void> {
    const name = randomUUID();
    const rules = [{ domainMatch: { type: 'exact', value: `${name}.example` }, condition: 'any', action: 'warn' }];
    this.#note('policy', [name], await this.#send('POST', '/api/v1/admin/policies', { name, rules }));
  }

  /** Resolves an open alert, the oldest of a page. */
  async #resolution(): Promise<void> {
    const open = await this.#send('GET', '/api/v1/admin/alerts?status=open&page_size=20');
    const alert = open?.status === 200 ? (open.body.alerts as { id: string }[]).at(-1) : undefined;
    if (!alert) return;
    this.#note(
      'resolution',
      [alert.id],
      await this.#send('PUT', `/api/v1/admin/alerts/${alert.id}/resolve`, {
        status: 'resolved',
        resolution: 'password changed',
      }),
    );
  }

  async #report(browser: Browser, turn: number): Promise<void> {
    const domain = `${randomUUID()}.example`;
    const pages = [visit('intranet.example'), visit('intranet.example')];
    const alarms = turn % REPORTS_AN_ALERT === 0 ? [breach(domain)] : [];
    const events = [...pages, ...alarms];
    const reply = await browser.report(events, DEADLINE_MS).catch(() => undefined);
    this.#note(
      'observation',
      events.map(({ eventId }) => eventId),
      reply,
    );
    this.#note(
      'alert',
      alarms.map(() => domain),
      reply,
    );
  }

  #send(method: string, path: string, body?: unknown): Promise<Reply | undefined> {
    const { url, headers } = this.#where;
    return ask(url + path, { method, headers, timeoutMs: DEADLINE_MS, ...(body === undefined ? {} : { body }) }).catch(
      () => undefined,
    );
  }

  #note(kind: Kind, keys: readonly string[], reply: Reply | undefined): void {
    if (reply && reply.status < 300) this.#journal.acknowledge(kind, ...keys);
    else this.#journal.doubt(kind, ...keys);
    if (reply?.status === 500) this.#journal.internalErrors.push(`${kind}: ${reply.text.slice(0, 200)}`);
    if (reply && reply.status >= 400 && reply.status < 500 && keys.length > 0)
      this.#journal.wronglyRefused.push(`${kind}: ${reply.status} ${reply.text.slice(0, 200)}`);
  }
}
