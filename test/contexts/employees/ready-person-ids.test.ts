import { beforeEach, describe, expect, it } from 'vitest';
import { ReadyPersonIds } from '../../../src/contexts/employees/ready-person-ids.ts';
import { alreadyExists, FailureError, temporarilyUnavailable } from '../../../src/platform/kernel/failure.ts';
import type { TenantId } from '../../../src/platform/kernel/ids.ts';

const TENANT = 'tenant' as TenantId;

describe('ids of people to come', () => {
  let keyed: string[];
  let keys: (personId: string) => Promise<Buffer>;
  let ready: ReadyPersonIds;
  beforeEach(() => {
    keyed = [];
    keys = (personId) => {
      keyed.push(personId);
      return Promise.resolve(Buffer.alloc(32));
    };
    ready = new ReadyPersonIds({ forSealing: (_tenant, personId) => keys(personId) });
  });

  const newId = () => 'new';
  const make = (tenantId = TENANT) => ready.withId(tenantId, newId, (userId) => Promise.resolve({ userId }));
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  /** Two people in quick succession. */
  const run = async () => {
    await make();
    await make();
    await settled();
  };

  it('are not made for a single person', async () => {
    expect(await make()).toEqual({ userId: 'new' });
    await settled();
    expect(keyed).toEqual([]);
  });

  it('are used once each, after their keys were made, for people of that tenant', async () => {
    await run();
    expect(keyed).toHaveLength(32);
    const used = [await make(), await make(), await make()].map(({ userId }) => userId);
    expect(new Set(used).size).toBe(3);
    expect(keyed).toEqual(expect.arrayContaining(used));
    expect(await make('other' as TenantId)).toEqual({ userId: 'new' });
  });

  it('are made again before they run out', async () => {
    await run();
    const used: string[] = [];
    for (let n = 0; n < 100; n += 1) {
      used.push((await make()).userId);
      await settled();
    }
    expect(used).not.toContain('new');
    expect(new Set(used).size).toBe(100);
    expect(keyed.length).toBeLessThanOrEqual(100 + 2 * 32);
  });

  it('are kept if nobody got them: a request that is refused for ever makes no keys', async () => {
    await run();
    const refused = () =>
      ready.withId(TENANT, newId, () => Promise.reject(new FailureError(alreadyExists('userName'))));
    for (let n = 0; n < 100; n += 1) await expect(refused()).rejects.toThrow(FailureError);
    for (let n = 0; n < 100; n += 1) await ready.withId(TENANT, newId, () => Promise.resolve({ userId: 'linked' }));
    await settled();
    expect(keyed).toHaveLength(32);
  });

  it('are not used again if an event may have them', async () => {
    await run();
    let lost: string | undefined;
    const unknown = ready.withId(TENANT, newId, (id) => {
      lost = id;
      return Promise.reject(new FailureError(temporarilyUnavailable()));
    });
    await expect(unknown).rejects.toThrow();
    const used: string[] = [];
    for (let n = 0; n < 40; n += 1) used.push((await make()).userId);
    expect([lost === 'new', used.includes(lost!)]).toEqual([false, false]);
  });

  it('are missing while keys cannot be made: people are made without', async () => {
    keys = () => Promise.reject(new Error('the database is away'));
    await run();
    expect(await make()).toEqual({ userId: 'new' });
  });
});
