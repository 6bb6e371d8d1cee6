import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { ask } from './ask.ts';
import type { Installation } from './installation.ts';
import type { RedisServer } from './redis.ts';

const EVERY_MS = 500;
/** A sign-in hashes a password on a busy machine. */
const CALL_TIMEOUT_MS = 5_000;
/** Sign-ins from one address in a minute (interface, "Limits"). */
const LOGINS = 10;

/** For some time, every node is ready, and everything that must not depend on Redis works. */
export async function expectServed(installation: Installation, forMs: number): Promise<void> {
  const { api, browsers, present } = installation;
  const failures: string[] = [];
  const note = (what: string) => (error: Error) => failures.push(`${what}: ${error.message}`);
  for (const end = Date.now() + forMs; Date.now() < end; await sleep(EVERY_MS)) {
    await installation.signIn().catch(note('sign-in'));
    await expectStatus(api.url + '/api/v1/admin/me', installation.headers).catch(note('/me'));
    const policies = await browsers[0]!.policies(CALL_TIMEOUT_MS).catch((error: Error) => error);
    if (policies instanceof Error || policies.status !== 200)
      note('policies')(policies instanceof Error ? policies : new Error(`${policies.status} ${policies.text}`));
    const email = `${crypto.randomUUID()}@acme.example`;
    const created = await ask(`${api.url}/api/v1/admin/users`, {
      method: 'POST',
      headers: installation.headers,
      body: { email, displayName: 'Somebody' },
      timeoutMs: CALL_TIMEOUT_MS,
    }).catch((error: Error) => error);
    if (created instanceof Error || created.status !== 201)
      note('a write')(created instanceof Error ? created : new Error(`${created.status} ${created.text}`));
    for (const node of present) await expectStatus(`${node.url}/ready`).catch(note(`${node.name} /ready`));
  }
  expect([...new Set(failures)]).toEqual([]);
}

async function expectStatus(url: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
  const { status, text } = await ask(url, { headers, timeoutMs: CALL_TIMEOUT_MS });
  if (status !== 200) throw new Error(`${status} ${text}`);
}

/** The schedules in Redis. */
export const scheduledIn = (redis: RedisServer): Promise<string[]> =>
  redis.ask(async (client) => {
    const queues = await client.keys('castellan:*:repeat');
    const schedules = await Promise.all(
      queues.map(async (queue) => (await client.zrange(queue, '0', '-1')).map((schedule) => `${queue} ${schedule}`)),
    );
    return schedules.flat().sort();
  });

let sources = 0;

/** Limits count again: of many sign-ins from one address, some are refused. */
export async function limitsCount({ api, tenantId }: Installation): Promise<void> {
  const from = `127.2.0.${(sources += 1)}`;
  const statuses: number[] = [];
  for (let n = 0; n < LOGINS + 2; n += 1) {
    const body = { email: 'nobody@acme.example', password: 'Wrong-Horse-7!', tenantId };
    statuses.push((await ask(`${api.url}/api/v1/auth/login`, { method: 'POST', from, body })).status);
  }
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
}
