import { employee, employeeStream, hasLeft } from '../../src/contexts/employees/domain/employee.ts';
import { unblockKey, unblockKeyStream } from '../../src/contexts/policies/domain/unblock-key.ts';
import type { AggregateReader } from '../../src/platform/kernel/aggregate.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { invalid } from '../../src/platform/kernel/failure.ts';

interface RedeemUnblockKey {
  readonly unblockKeyId: string;
  readonly domain: string;
  readonly deviceId: string;
  readonly userId: string;
}

/**
 * The same failure for every invalid key: unknown, used, expired, for another person or site (choice OP-117), or from
 * before its user became inactive.
 */
export const NO_SUCH_KEY = invalid('key', 'is not valid');

/** How long the device that used a key gets the same response again: a lost response must not cost the key. */
const REPEATABLE_MS = 24 * 3_600_000;

/** Lets a person pass a block once. The claim stays, so that a repetition finds the key. */
export const redeemUnblockKey = defineCommand({
  name: 'RedeemUnblockKey',
  aggregate: unblockKey,
  stream: ({ unblockKeyId }: RedeemUnblockKey, { tenantId }) => unblockKeyStream(tenantId, unblockKeyId),
  async prepare({ userId }: RedeemUnblockKey, { aggregates }: { aggregates: AggregateReader }, { tenantId }) {
    const user = await aggregates.load(employee, employeeStream(tenantId, userId));
    return hasLeft(user) ? NO_SUCH_KEY : { deactivations: user.deactivations };
  },
  decide(state, { unblockKeyId, domain, deviceId, userId }, { now }, { deactivations }: { deactivations: number }) {
    if (Date.parse(state.expiresAt) <= now || state.domain !== domain) return NO_SUCH_KEY;
    if ((state.userId ?? userId) !== userId || (state.deviceId ?? deviceId) !== deviceId) return NO_SUCH_KEY;
    if (state.userId !== null && state.userDeactivations !== deactivations) return NO_SUCH_KEY;
    const { use, expiresAt } = state;
    if (use) {
      const isRepeated = use.deviceId === deviceId && use.userId === userId;
      return isRepeated && now - Date.parse(use.usedAt) < REPEATABLE_MS ? acceptWith({ expiresAt }, []) : NO_SUCH_KEY;
    }
    if (state.status !== 'active') return NO_SUCH_KEY;
    const usedAt = new Date(now).toISOString();
    return acceptWith({ expiresAt }, [{ type: 'UnblockKeyUsed', data: { unblockKeyId, deviceId, userId, usedAt } }]);
  },
  freshens: ['unblock_keys'],
});
