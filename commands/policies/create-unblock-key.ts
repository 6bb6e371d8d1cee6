import { device, deviceStream } from '../../src/domain/devices/device.ts';
import { employee, employeeStream } from '../../src/domain/employees/employee.ts';
import { unblockKey, unblockKeyClaim, unblockKeyStream } from '../../src/domain/policies/unblock-key.ts';
import type { AggregateReader } from '../../src/kernel/aggregate.ts';
import { acceptWith, defineCommand } from '../../src/kernel/command.ts';
import { invalid } from '../../src/kernel/failure.ts';

export interface CreateUnblockKey {
  readonly domain: string;
  /** Null: whoever has the key. */
  readonly userId: string | null;
  readonly deviceId: string | null;
  readonly reason: string;
  readonly expiresInHours: number;
  /** Called again if the key that it returned is in use. */
  newKey(this: void): string;
}

const HOUR_MS = 3_600_000;

/** Answers the key, which nobody sees again, and its id, which is the command's. */
export const createUnblockKey = defineCommand({
  name: 'CreateUnblockKey',
  aggregate: unblockKey,
  stream: (_input: CreateUnblockKey, { tenantId, id }) => unblockKeyStream(tenantId, id),
  async prepare({ userId, deviceId, newKey }: CreateUnblockKey, { aggregates }: { aggregates: AggregateReader }, { tenantId }) {
    if (userId !== null && (await aggregates.load(employee, employeeStream(tenantId, userId))).status !== 'present') return invalid('userId', 'names no employee');
    const known = deviceId === null ? undefined : await aggregates.load(device, deviceStream(tenantId, deviceId));
    if (known?.status === 'none' || known?.status === 'deleted') return invalid('deviceId', 'names no device');
    return { key: newKey(), personId: userId ?? (known?.userId || null) };
  },
  decide(_state, { domain, userId, deviceId, reason, expiresInHours }, { id: unblockKeyId, now }, { key, personId }: { key: string; personId: string | null }) {
    const expiresAt = new Date(now + expiresInHours * HOUR_MS).toISOString();
    return acceptWith({ unblockKeyId, key, expiresAt }, [{ type: 'UnblockKeyCreated', data: { unblockKeyId, personId, domain, userId, deviceId, reason, expiresAt } }], { take: [unblockKeyClaim(key)] });
  },
  whenClaimed: () => 'prepareAgain',
  // The first of 8.5e11 keys: that it was in use, and the response lost besides, is left out of account.
  recall: (_before, [event], { newKey }) => {
    const { unblockKeyId, expiresAt } = (event as Extract<typeof event, { type: 'UnblockKeyCreated' }>).data;
    return { unblockKeyId, key: newKey(), expiresAt };
  },
  freshens: ['unblock_keys'],
});
