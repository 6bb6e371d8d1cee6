import { device, deviceStream } from '../../src/contexts/devices/domain/device.ts';
import { employee, employeeStream, isEmployed } from '../../src/contexts/employees/domain/employee.ts';
import { unblockKey, unblockKeyClaim, unblockKeyStream } from '../../src/contexts/policies/domain/unblock-key.ts';
import type { AggregateReader } from '../../src/platform/kernel/aggregate.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { invalid, refuseTogether } from '../../src/platform/kernel/failure.ts';

export interface CreateUnblockKey {
  readonly domain: string;
  /** Null: anyone who has the key. */
  readonly userId: string | null;
  readonly deviceId: string | null;
  readonly reason: string;
  readonly expiresInHours: number;
  /** Called again if the key that it returned is in use. */
  newKey(this: void): string;
}

interface Facts {
  readonly key: string;
  readonly personId: string | null;
  readonly userDeactivations: number;
}

const HOUR_MS = 3_600_000;

/** Returns the key, which is never shown again, and its id, which is that of the command. */
export const createUnblockKey = defineCommand({
  name: 'CreateUnblockKey',
  aggregate: unblockKey,
  stream: (_input: CreateUnblockKey, { tenantId, id }) => unblockKeyStream(tenantId, id),
  begins: true,
  async prepare(
    { userId, deviceId, newKey }: CreateUnblockKey,
    { aggregates }: { aggregates: AggregateReader },
    { tenantId },
  ) {
    const user = userId === null ? undefined : await aggregates.load(employee, employeeStream(tenantId, userId));
    const known = deviceId === null ? undefined : await aggregates.load(device, deviceStream(tenantId, deviceId));
    const isGone = known?.status === 'none' || known?.status === 'deleted';
    const refused = refuseTogether(
      user && !isEmployed(user) ? invalid('userId', 'is not the id of an active employee') : undefined,
      isGone ? invalid('deviceId', 'is not the id of a device') : undefined,
    );
    if (refused) return refused;
    return { key: newKey(), personId: userId ?? (known?.userId || null), userDeactivations: user?.deactivations ?? 0 };
  },
  decide(
    _state,
    { domain, userId, deviceId, reason, expiresInHours },
    { id: unblockKeyId, now },
    { key, personId, userDeactivations }: Facts,
  ) {
    const expiresAt = new Date(now + expiresInHours * HOUR_MS).toISOString();
    const created = { unblockKeyId, personId, domain, userId, deviceId, reason, userDeactivations, expiresAt };
    return acceptWith({ unblockKeyId, key, expiresAt }, [{ type: 'UnblockKeyCreated', data: created }], {
      claim: [unblockKeyClaim(key)],
    });
  },
  whenClaimed: () => 'prepareAgain',
  // Recomputes the first of 8.5e11 keys. This ignores the case that this key was in use and the response was lost, too.
  recall: (_before, [event], { newKey }) => {
    const { unblockKeyId, expiresAt } = (event as Extract<typeof event, { type: 'UnblockKeyCreated' }>).data;
    return { unblockKeyId, key: newKey(), expiresAt };
  },
  freshens: ['unblock_keys'],
});
