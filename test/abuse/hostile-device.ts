import { randomUUID } from 'node:crypto';
import { multipart, png, pngChunk } from '../dsl/pictures.ts';
import { ask } from '../faults/harness/ask.ts';
import { breach, Browser, visit } from '../faults/harness/browser.ts';
import { flood, type Attack, type Tally } from './attack.ts';
import type { Party } from './party.ts';

const MAX_IN_A_BATCH = 500;
const DAYS_BACK = 89;
const DAY_MS = 86_400_000;
const PICTURE_BYTES = 4 * 1024 * 1024;
const INSTALLATIONS = 9;
const EXTENSIONS = 200;
const LONGEST_NAME = 128;
/** As many as a batch of pages can hold. */
const TECHNOLOGIES = 16;

const batch = <T>(make: (n: number) => T): T[] => Array.from({ length: MAX_IN_A_BATCH }, (_, n) => make(n));
const daysAgo = (event: object, days: number): object => ({
  ...event,
  occurredAt: new Date(Date.now() - days * DAY_MS).toISOString(),
});

/**
 * One browser with a certificate: floods of alerts, the largest batches, invented domains, screenshots, and inventories
 * that are expensive to evaluate.
 */
export const hostileDevice: Attack = {
  /** Its tenant watches extensions. */
  async prepare({ url, headers }: Party): Promise<void> {
    const { status, text } = await ask(`${url}/api/v1/admin/extension-monitoring/settings`, {
      method: 'PUT',
      headers,
      body: { alertOnUnwhitelisted: true },
    });
    if (status !== 200) throw new Error(`not set: ${status} ${text}`);
  },
  async attack(party: Party, signal: AbortSignal): Promise<Tally> {
    const browser = new Browser(party.tlsUrl, party.browser);
    const tally: Tally = {};
    await browser.send('GET', '/api/v1/ext/policies').catch(() => undefined);
    const report = (events: readonly object[]) => browser.report(events, 30_000);
    try {
      await swollenInventories(report);
      await Promise.all([
        flood(tally, signal, 'alerts', 2, () => report(batch(() => breach(`${randomUUID()}.example`)))),
        flood(tally, signal, 'alerts of other days', 1, (turn) =>
          report(batch(() => daysAgo(breach(`${randomUUID()}.example`), 1 + (turn % DAYS_BACK)))),
        ),
        flood(tally, signal, 'domains', 1, () => report(batch(() => invented()))),
        flood(tally, signal, 'technologies', 1, () => report(batch(technologies))),
        flood(tally, signal, 'screenshots', 1, () => screenshot(browser)),
      ]);
    } finally {
      browser.close();
    }
    return tally;
  },
};

const invented = () => ({
  ...visit(`${randomUUID()}.example`),
  data: { title: null, referrerDomain: null, technologies: [], isNewSite: true },
});

const technologies = (n: number) => ({
  ...visit(`host${n % 10}.example`),
  data: {
    title: null,
    referrerDomain: null,
    technologies: Array.from({ length: TECHNOLOGIES }, () => ({ name: randomUUID(), version: '1' })),
    isNewSite: false,
  },
});

/**
 * Many extensions with names of the maximum length, longer still as JSON, and then none of them: all are removed at
 * once.
 */
async function swollenInventories(report: (events: readonly object[]) => Promise<unknown>): Promise<void> {
  const common = () => ({ eventId: randomUUID(), occurredAt: new Date().toISOString(), domain: null, url: null });
  const installed = () => ({
    ...common(),
    kind: 'extension_event',
    data: { extensionId: randomUUID().padEnd(LONGEST_NAME, '\u0001'), change: 'installed' },
  });
  for (let n = 0; n < INSTALLATIONS; n += 1)
    await report(Array.from({ length: EXTENSIONS }, installed)).catch(() => undefined);
  await report([{ ...common(), kind: 'extension_inventory', data: { extensions: [] } }]).catch(() => undefined);
}

async function screenshot(browser: Browser): Promise<{ status: number }> {
  const event = visit('intranet.example');
  await browser.report([event]);
  const file = png({
    shade: Math.floor(Math.random() * 65_536),
    extra: [pngChunk('tEXt', Buffer.alloc(PICTURE_BYTES, 'x'))],
  });
  const { raw, headers } = multipart({
    fields: { eventId: event.eventId, origin: 'https://intranet.example', capturedAt: new Date().toISOString() },
    file,
  });
  return browser.upload('/api/v1/ext/screenshots', raw, headers);
}
