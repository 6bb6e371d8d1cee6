import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EventStoreUnavailable, type Append, type EventStore } from '../../../../src/platform/eventstore/port.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { startStandIn, type StandIn } from '../../../fixtures/eventstoredb/stand-in.ts';

const USERS = '/api/v1/admin/users';
const ROWS = 120;

interface Told {
  readonly row: number;
  readonly outcome: string;
  readonly userId: string | null;
}

interface Body {
  readonly imported: number;
  readonly updated: number;
  readonly skipped: number;
  readonly rows: Told[];
}

interface Fixture {
  readonly app: TestApp;
  readonly node?: StandIn;
}

const onPostgres = async (): Promise<Fixture> => ({ app: await startApp() });
const onEventStoreDb = async (): Promise<Fixture> => {
  const node = await startStandIn();
  return { node, app: await startApp({ eventStoreUrl: node.connectionString }) };
};

describe.each([
  ['PostgreSQL', onPostgres],
  ['EventStoreDB', onEventStoreDb],
])('an import that the store interrupts, on %s', { timeout: 60_000 }, (_, open) => {
  let app: TestApp;
  let node: StandIn | undefined;
  let tenant: TestTenant;
  let store: { append: EventStore['append'] };
  let append: EventStore['append'];
  beforeAll(async () => {
    ({ app, node } = await open());
    tenant = await app.newTenant();
    store = app.services.store as { append: EventStore['append'] };
    append = store.append;
  }, 120_000);
  afterEach(() => void (store.append = append));
  afterAll(async () => {
    await app.close();
    await node?.stop();
  });

  const fileOf = (count: number) =>
    ['email,displayName', ...Array.from({ length: count }, () => `${randomUUID()}@acme.example,Ada`)].join('\r\n');
  async function send(file: string, key?: string) {
    const form = new FormData();
    form.append('file', new Blob([file]), 'users.csv');
    const headers = {
      authorization: `Bearer ${tenant.token}`,
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    };
    const answer = await fetch(`${app.url}${USERS}/import`, { method: 'POST', headers, body: form });
    return {
      status: answer.status,
      retryAfter: answer.headers.get('retry-after'),
      body: (await answer.json()) as Body,
    };
  }
  /** Retries like a client: on a busy machine an import may be interrupted again. */
  async function sendUntilDone(file: string, key?: string) {
    for (;;) {
      const answer = await send(file, key);
      if (answer.status !== 503) return answer;
    }
  }
  /** After this many employees the store fails; the last append before that is stored, and its reply is lost. */
  function failAfter(most: number): void {
    let begun = 0;
    store.append = async (one: Append) => {
      if (!one.stream.startsWith('employee-')) return append(one);
      begun += 1;
      if (begun < most) return append(one);
      if (begun === most) await append(one);
      throw new EventStoreUnavailable('the event store did not respond in time');
    };
  }
  const total = async () => {
    await app.settled();
    return (await tenant.admin.get(`${USERS}?page_size=1`)).body.total as number;
  };
  const rowsOf = ({ rows }: Body, outcome: string) => rows.filter((told) => told.outcome === outcome);

  it('reports row by row what is stored and what is not', async () => {
    const before = await total();
    failAfter(50);
    const { status, retryAfter, body } = await send(fileOf(ROWS));
    expect([status, retryAfter]).toEqual([503, '2']);
    expect(body).toMatchObject({
      error: 'service unavailable',
      imported: 50,
      updated: 0,
      skipped: 0,
      total: ROWS,
      errors: [],
    });
    expect(body.rows.map(({ row }: Told) => row)).toEqual(Array.from({ length: ROWS }, (_, at) => at + 2));
    expect(rowsOf(body, 'imported')).toHaveLength(50);
    const [unknown, notStored] = [rowsOf(body, 'unknown').length, rowsOf(body, 'notStored').length];
    expect(unknown).toBeGreaterThan(0);
    expect(50 + unknown + notStored).toBe(ROWS);
    // A response that reports a failure does not wait for the read models.
    await app.settled();
    for (const { userId } of rowsOf(body, 'imported'))
      expect((await tenant.admin.get(`${USERS}/${userId}`)).status).toBe(200);
    expect(await total()).toBe(before + 50);
  });

  it('is completed by sending the same file, and reports the existing rows', async () => {
    const before = await total();
    const file = fileOf(ROWS);
    failAfter(50);
    const interrupted = (await send(file)).body;
    store.append = append;
    const { status, body } = await sendUntilDone(file);
    expect([status, body.imported + body.skipped]).toEqual([200, ROWS]);
    expect(body.skipped).toBeGreaterThanOrEqual(50);
    const known = new Map(rowsOf(body, 'unchanged').map(({ row, userId }) => [row, userId]));
    for (const { row, userId } of rowsOf(interrupted, 'imported')) expect(known.get(row)).toBe(userId);
    expect(await total()).toBe(before + ROWS);
  });

  it('is completed under the same idempotency key, as if it had not been interrupted', async () => {
    const before = await total();
    const [file, key] = [fileOf(ROWS), randomUUID()];
    failAfter(50);
    expect((await send(file, key)).status).toBe(503);
    store.append = append;
    expect(await sendUntilDone(file, key)).toMatchObject({
      status: 200,
      body: { imported: ROWS, updated: 0, skipped: 0 },
    });
    expect(await total()).toBe(before + ROWS);
  });

  it('is replayed under its key when its response was lost, also if it used up the license', async () => {
    const small = await app.newTenant({ license: { maxUsers: 3 } });
    const [file, key, others] = [fileOf(3), randomUUID(), tenant];
    tenant = small;
    const first = await sendUntilDone(file, key);
    expect(first).toMatchObject({ status: 200, body: { imported: 3 } });
    await app.services.database.owner.query(
      `update idempotent_answers set status = null, sealed_body = null, log_position = null, running_until = now() - interval '1 second'`,
    );
    expect(await sendUntilDone(file, key)).toEqual(first);
    tenant = others;
  });
});
