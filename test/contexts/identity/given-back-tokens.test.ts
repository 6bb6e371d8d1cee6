import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OneTimeTokens } from '../../../src/contexts/identity/one-time-tokens.ts';
import type { TenantPool } from '../../../src/platform/database/tenant-pool.ts';
import { Restitution } from '../../../src/platform/database/restitution.ts';
import { DatabaseTimeout } from '../../../src/platform/database/unavailable.ts';
import type { TenantId } from '../../../src/platform/kernel/ids.ts';
import { sharedApp, type TestApp } from '../../dsl/app.ts';

describe('a token that is given back', () => {
  let app: TestApp;
  let token: string;
  let tenant: TenantId;
  beforeAll(async () => void (app = await sharedApp()));
  afterAll(() => app.close());
  beforeEach(async () => {
    const { tenantId } = await app.newTenant();
    tenant = tenantId;
    token = await app.services.oneTimeTokens.issue('temp', { tenantId, subjectId: randomUUID(), payload: {} }, 60);
  });
  const spend = (tokens = app.services.oneTimeTokens) => tokens.spend('temp', token);

  it('counts once more, however often that use is given back', async () => {
    const { oneTimeTokens } = app.services;
    const first = (await spend())!;
    for (let times = 0; times < 2; times += 1) await oneTimeTokens.giveBack('temp', token, first);
    expect(await spend()).toBeDefined();
    // Another request has used it since: the repetition of a lost response gives nothing back.
    await oneTimeTokens.giveBack('temp', token, first);
    expect(await spend()).toBeUndefined();
  });

  it('can be finished once, by a use of it, unless that use is given back', async () => {
    const { oneTimeTokens } = app.services;
    const issued = { tenantId: tenant, subjectId: randomUUID(), payload: {} };
    const several = await oneTimeTokens.issue('mfa', issued, 60, 5);
    const [one, two] = [(await oneTimeTokens.spend('mfa', several))!, (await oneTimeTokens.spend('mfa', several))!];
    const finished = await Promise.all([one, two].map((use) => oneTimeTokens.finish('mfa', several, use)));
    expect(finished.filter(Boolean)).toHaveLength(1);
    expect(await oneTimeTokens.spend('mfa', several)).toBeUndefined();
    expect(await oneTimeTokens.peek('mfa', several)).toBeUndefined();
    // The use that did not finish it changes nothing about that.
    const [winner, loser] = finished[0] ? [one, two] : [two, one];
    await oneTimeTokens.giveBack('mfa', several, loser);
    expect(await oneTimeTokens.spend('mfa', several)).toBeUndefined();
    await oneTimeTokens.giveBack('mfa', several, winner);
    // That use is undone.
    expect(await oneTimeTokens.finish('mfa', several, winner)).toBeUndefined();
    const again = (await oneTimeTokens.spend('mfa', several))!;
    expect(await oneTimeTokens.finish('mfa', several, again)).toBeDefined();
  });

  it('is given back as soon as the database is there', async () => {
    const { service } = app.services.database;
    let isAway = false;
    const sometimes = {
      restitution: new Restitution(),
      inTime: (...call: Parameters<TenantPool['inTime']>) =>
        isAway ? Promise.reject(new DatabaseTimeout(1)) : service.inTime(...call),
    } as unknown as TenantPool;
    const tokens = new OneTimeTokens(sometimes);
    const use = (await spend(tokens))!;
    isAway = true;
    await tokens.giveBack('temp', token, use);
    isAway = false;
    expect(await spend()).toBeUndefined();
    await expect.poll(() => spend(), { timeout: 10_000 }).toBeDefined();
  });

  it('was not used if nobody knows whether it was', async () => {
    const { service } = app.services.database;
    let lost = 0;
    const losing = {
      restitution: new Restitution(),
      inTime: async (...call: Parameters<TenantPool['inTime']>) => {
        const done = await service.inTime(...call);
        if ((lost += 1) === 1) throw new DatabaseTimeout(1);
        return done;
      },
    } as unknown as TenantPool;
    await expect(spend(new OneTimeTokens(losing))).rejects.toThrow(DatabaseTimeout);
    await expect.poll(() => spend(), { timeout: 10_000 }).toBeDefined();
  });
});
