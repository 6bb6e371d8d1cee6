import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { multipart } from '../dsl/pictures.ts';
import { ask } from '../faults/harness/ask.ts';
import { addresses } from './addresses.ts';
import { flood, type Attack, type Tally } from './attack.ts';
import type { Party } from './party.ts';

const PEOPLE = 10_000;
const AN_IMPORT = 5_000;
const LONGEST_NAME = 200;
const SLOW_READERS = 12;
/** A file is megabytes, more than socket buffers hold for a reader. */
const SIP_BYTES = 4_096;
const SIP_MS = 500;

const HEAVY = [
  '/api/v1/admin/dashboard/trends',
  '/api/v1/admin/attack-surface',
  '/api/v1/admin/alerts/stats',
  '/api/v1/admin/security-posture',
  '/api/v1/admin/credential-stats',
  '/api/v1/admin/events/stats',
  '/api/v1/admin/users?search=falcon&page=90&page_size=100',
  '/api/v1/admin/search?q=falcon&page=90&page_size=100',
  '/api/v1/admin/filters/users',
];

/**
 * One signed-in analyst: slowly read exports, expensive statistics, concurrent verifications of the audit chain, wrong
 * passwords.
 */
export const hostileAnalyst: Attack = {
  /** The search must find something. */
  async prepare({ url, headers }: Party): Promise<void> {
    for (let from = 0; from < PEOPLE; from += AN_IMPORT) {
      const lines = Array.from(
        { length: AN_IMPORT },
        (_, n) => `falcon${from + n}@mallory.example,${`Falcon ${from + n} `.padEnd(LONGEST_NAME, '界')}`,
      );
      const { raw, headers: form } = multipart({
        file: Buffer.from(['email,displayName', ...lines].join('\n')),
        type: 'text/csv',
      });
      const { status, text } = await ask(`${url}/api/v1/admin/users/import`, {
        method: 'POST',
        headers: { ...headers, ...form },
        raw,
        timeoutMs: 300_000,
      });
      if (status !== 200) throw new Error(`not imported: ${status} ${text}`);
    }
  },
  async attack({ url, headers }: Party, signal: AbortSignal): Promise<Tally> {
    const from = addresses(50);
    const tally: Tally = {};
    const get = (path: string) => ask(url + path, { headers, from: from(), timeoutMs: 30_000 });
    const readers = Array.from({ length: SLOW_READERS }, () => readSlowly(url, headers, from, signal, tally));
    await Promise.all([
      ...readers,
      flood(tally, signal, 'figures', 8, (turn) => get(HEAVY[turn % HEAVY.length]!)),
      flood(tally, signal, 'verify', 4, () => get('/api/v1/admin/audit-log/verify')),
      flood(tally, signal, 'wrong password', 4, () =>
        ask(`${url}/api/v1/admin/verify-password`, {
          method: 'POST',
          headers,
          body: { password: 'Wrong-Horse-7!' },
          from: from(),
          timeoutMs: 30_000,
        }),
      ),
    ]);
    return tally;
  },
};

/** Requests a large file and reads it in small steps, again and again. */
async function readSlowly(
  url: string,
  headers: Party['headers'],
  from: () => string,
  signal: AbortSignal,
  tally: Tally,
): Promise<void> {
  while (!signal.aborted) {
    const asked = request(`${url}/api/v1/admin/search/export?q=falcon`, {
      headers,
      localAddress: from(),
      agent: false,
      signal,
    });
    asked.on('error', () => undefined);
    asked.end();
    const response = await once(asked, 'response', { signal }).then(
      ([first]) => first as IncomingMessage,
      () => undefined,
    );
    const name = `export ${response?.statusCode ?? 'failed'}`;
    tally[name] = (tally[name] ?? 0) + 1;
    if (!response) {
      await sleep(20);
      continue;
    }
    response.on('error', () => undefined);
    response.pause();
    let open = true;
    response.on('close', () => (open = false));
    response.on('end', () => {
      open = false;
      tally['export read to its end'] = (tally['export read to its end'] ?? 0) + 1;
    });
    while (open && !signal.aborted) {
      response.read(SIP_BYTES);
      await sleep(SIP_MS, undefined, { signal }).catch(() => undefined);
    }
    asked.destroy();
  }
}
