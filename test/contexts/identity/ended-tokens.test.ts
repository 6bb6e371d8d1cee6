import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ENDED, tokenDigest } from '../../../src/contexts/identity/one-time-tokens.ts';
import { sharedApp, type TestApp } from '../../dsl/app.ts';

let app: TestApp;
beforeAll(async () => void (app = await sharedApp()));
afterAll(() => app.close());

it('a token that something else has ended can be neither used, given back nor discarded', async () => {
  const { oneTimeTokens, database } = app.services;
  const { tenantId } = await app.newTenant();
  const token = await oneTimeTokens.issue('sso-handoff', { tenantId, subjectId: randomUUID(), payload: {} }, 60);
  const use = (await oneTimeTokens.spend('sso-handoff', token))!;
  await database.owner.query(
    `update one_time_tokens set tries_left = 0, payload = payload || $2 where digest = decode($1, 'hex')`,
    [tokenDigest(token), { [ENDED]: true }],
  );
  await oneTimeTokens.giveBack('sso-handoff', token, use);
  expect(await oneTimeTokens.spend('sso-handoff', token)).toBeUndefined();
  expect(await oneTimeTokens.discard('sso-handoff', token)).toBeUndefined();
});
