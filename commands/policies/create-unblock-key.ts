import { device, deviceStream } from '../../src/domain/devices/device.ts';
import { employee, employeeStream, isEmployed } from '../../src/domain/employees/employee.ts';
import { newUnblockKey, unblockKey, unblockKeyClaim, unblockKeyStream } from '../../src/domain/policies/unblock-key.ts';
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
}

const HOUR_MS = 3_600_000;

/** Answers the key, which nobody sees again, and its id, which is the command's. */
export const createUnblockKey = defineCommand({
  name: 'CreateUnblockKey',
  aggregate: unblockKey,
  stream: (_input: CreateUnblockKey, { tenantId, id }) => unblockKeyStream(tenantId, id),
  async prepare({ userId, deviceId }: CreateUnblockKey, { aggregates }: { aggregates: AggregateReader }, { tenantId }) {
    const user = userId === null ? undefined : await aggregates.load(employee, employeeStream(tenantId, userId));
    if (user && !isEmployed(user)) return invalid('userId', 'names no active employee');
    const known = deviceId === null ? undefined : await aggregates.load(device, deviceStream(tenantId, deviceId));
    if (known?.status === 'none' || known?.status === 'deleted') return invalid('deviceId', 'names no device');
    return { key: newUnblockKey(), userDeactivations: user?.deactivations ?? 0 };
  },
  decide(_state, { expiresInHours, ...about }, { id: unblockKeyId, now }, { key, userDeactivations }: { key: string; userDeactivations: number }) {
    const expiresAt = new Date(now + expiresInHours * HOUR_MS).toISOString();
    return acceptWith({ unblockKeyId, key, expiresAt }, [{ type: 'UnblockKeyCreated', data: { unblockKeyId, ...about, userDeactivations, expiresAt } }], { take: [unblockKeyClaim(key)] });
  },
  whenClaimed: () => 'prepareAgain',
  freshens: ['unblock_keys'],
});
