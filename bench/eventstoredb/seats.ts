import { randomUUID } from 'node:crypto';
import { startBenchApp, type BenchApp } from '../app.ts';
import { HttpClient } from '../http-client.ts';
import { alternate, compare, concurrently, median, type Row } from '../measure.ts';
import type { EventStoreServer } from './server.ts';

const USERS = '/api/v1/admin/users';
const SEATS = 2_000;
const CALLERS = 32;
const CALLS = 320;
const ROUNDS = 3;
const IMPORTED = 1_000;

/**
 * Creating an employee with a used-up license (403), compared with creating one with free seats (201); and an import. On
 * the embedded store, and on EventStoreDB.
 */
export async function seats(server: EventStoreServer): Promise<Row[]> {
  return [
    ...(await measureOn('the embedded store', undefined, '<= 1.5')),
    ...(await measureOn(server.name, server.url, server.target('<= 1.5'))),
  ];
}

async function measureOn(where: string, eventStoreUrl: string | undefined, target: string): Promise<Row[]> {
  const app = await startBenchApp({ eventStoreUrl });
  const client = new HttpClient(app.url, CALLERS);
  try {
    const [full, empty] = [await app.newTenant(SEATS), await app.newTenant()];
    await importUsers(app, full.headers, SEATS);
    const create = (tenant: typeof full, expected: number) => async () => {
      const { status } = await client.send(
        'POST',
        USERS,
        { ...tenant.headers, 'content-type': 'application/json' },
        JSON.stringify({ email: `${randomUUID()}@bench.example`, displayName: 'Ada' }),
      );
      if (status !== expected) throw new Error(`${where}: ${status} where ${expected} was expected`);
    };
    const p50 = (call: () => Promise<void>) => async () => {
      const took: number[] = [];
      await concurrently(CALLERS, CALLS, async () => {
        const started = performance.now();
        await call();
        took.push(performance.now() - started);
      });
      return median(took);
    };
    const [refuse, admit] = [p50(create(full, 403)), p50(create(empty, 201))];
    await admit();
    await refuse();
    const [refused, created] = await alternate(ROUNDS, [refuse, admit]);
    const importing = await importUsers(app, (await app.newTenant()).headers, IMPORTED);
    return [
      compare(
        `p50 of POST /admin/users at a used-up license of ${SEATS}, ${CALLERS} callers (${where})`,
        'ms',
        target,
        refused!,
        created!,
        'at an empty one',
      ),
      compare(
        `import of ${IMPORTED} employees (${where})`,
        'ms',
        'report',
        importing,
        median(created!) * (IMPORTED / CALLERS),
        `${IMPORTED} single creations`,
      ),
    ];
  } finally {
    client.close();
    await app.stop();
  }
}

/** Its duration in milliseconds. */
async function importUsers({ url }: BenchApp, headers: Record<string, string>, count: number): Promise<number> {
  const lines = Array.from({ length: count }, () => `${randomUUID()}@bench.example,Ada`);
  const file = new Blob([['email,displayName', ...lines].join('\r\n')]);
  const started = performance.now();
  for (;;) {
    const form = new FormData();
    form.append('file', file, 'users.csv');
    const answer = await fetch(`${url}${USERS}/import`, { method: 'POST', headers, body: form });
    if (answer.status === 200) return performance.now() - started;
    // An overloaded store interrupts it: the same file continues from there.
    if (answer.status !== 503) throw new Error(`the import was refused: ${answer.status} ${await answer.text()}`);
    await answer.body?.cancel();
  }
}
