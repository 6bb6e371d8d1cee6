import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EventStoreUnavailable, type EventStore, type AppendResult } from '../../../src/platform/eventstore/port.ts';
import { startApp, type TestApp, type TestTenant } from '../../dsl/app.ts';

describe('a change with an unknown outcome', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let store: { append: EventStore['append'] };
  let append: EventStore['append'];
  beforeAll(async () => {
    app = await startApp();
    tenant = await app.newTenant();
    store = app.services.store as { append: EventStore['append'] };
    append = store.append;
  });
  afterAll(() => app.close());

  const createGroup = async (meet: () => Promise<AppendResult>) => {
    store.append = meet;
    try {
      const headers = { authorization: `Bearer ${tenant.token}`, 'content-type': 'application/json' };
      const answer = await fetch(`${app.url}/api/v1/admin/groups`, {
        method: 'POST',
        headers,
        body: '{"name":"Finance"}',
      });
      return { status: answer.status, retryAfter: answer.headers.get('retry-after') };
    } finally {
      store.append = append;
    }
  };

  it('is answered with the seconds after which to retry', async () => {
    expect(await createGroup(() => Promise.reject(new EventStoreUnavailable('no answer')))).toEqual({
      status: 503,
      retryAfter: '2',
    });
  });

  it('is answered in the same way when other writers were always faster', async () => {
    expect(await createGroup(() => Promise.resolve({ kind: 'wrongRevision', actual: 0n }))).toEqual({
      status: 503,
      retryAfter: '2',
    });
  });
});
