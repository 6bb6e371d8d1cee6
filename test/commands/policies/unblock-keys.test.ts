import { describe, expect, it } from 'vitest';
import { createUnblockKey } from '../../../commands/policies/create-unblock-key.ts';
import { redeemUnblockKey } from '../../../commands/policies/redeem-unblock-key.ts';
import { unblockKeyClaim } from '../../../src/contexts/policies/domain/unblock-key.ts';
import { context, given, NOW } from '../../dsl/given.ts';

const unblockKeyId = context().id;
const key = 'ABCD-2345';
const device = '0198a000-0000-7000-8000-00000000000d';
const user = '0198a000-0000-7000-8000-00000000000e';
const about = { domain: 'shop.example', userId: null, deviceId: null, reason: '' };
const expiresAt = new Date(NOW + 3_600_000).toISOString();
const created = {
  type: 'UnblockKeyCreated' as const,
  data: { unblockKeyId, personId: null, ...about, userDeactivations: 0, expiresAt },
};
const used = {
  type: 'UnblockKeyUsed' as const,
  data: { unblockKeyId, deviceId: device, userId: user, usedAt: new Date(NOW).toISOString() },
};
const redeem = { unblockKeyId, domain: 'shop.example', deviceId: device, userId: user };
/** Its user has never been inactive. */
const present = { deactivations: 0 };

describe('an unblock key', () => {
  it('is found by a claim, and occurs in no event', () => {
    const outcome = given().when(
      createUnblockKey,
      { ...about, expiresInHours: 1, newKey: () => key },
      { key, personId: null, userDeactivations: 0 },
    );
    outcome.then(created);
    outcome.thenTakes(unblockKeyClaim('abcd2345'));
  });
  it('is used once, and the same device gets the same response again, for a day', () => {
    const outcome = given(created).when(redeemUnblockKey, redeem, present);
    outcome.then(used);
    outcome.thenReleases();
    const lasting = { ...created, data: { ...created.data, expiresAt: new Date(NOW + 7 * 86_400_000).toISOString() } };
    const again = given(lasting, used).when(redeemUnblockKey, redeem, present, { now: NOW + 86_399_999 });
    again.then();
    expect(again.result()).toEqual({ expiresAt: lasting.data.expiresAt });
    for (const [over, facts, now] of [
      [{}, present, NOW + 86_400_000],
      [{ deviceId: unblockKeyId }, present, NOW],
      [{ userId: unblockKeyId }, present, NOW],
      [{ domain: 'bank.example' }, present, NOW],
    ] as const)
      given(lasting, used)
        .when(redeemUnblockKey, { ...redeem, ...over }, facts, { now })
        .thenRefused('invalid');
    given(created, used)
      .when(redeemUnblockKey, redeem, present, { now: NOW + 3_600_000 })
      .thenRefused('invalid');
  });
  it('is void once its user has become inactive', () => {
    const theirs = { ...created, data: { ...created.data, userId: user } };
    given(theirs).when(redeemUnblockKey, redeem, present).thenTypes('UnblockKeyUsed');
    given(theirs).when(redeemUnblockKey, redeem, { deactivations: 1 }).thenRefused('invalid');
    given(created).when(redeemUnblockKey, redeem, { deactivations: 1 }).thenTypes('UnblockKeyUsed');
  });
  it('expires to the millisecond', () => {
    given(created)
      .when(redeemUnblockKey, redeem, present, { now: NOW + 3_599_999 })
      .thenTypes('UnblockKeyUsed');
    given(created)
      .when(redeemUnblockKey, redeem, present, { now: NOW + 3_600_000 })
      .thenRefused('invalid');
  });
});
