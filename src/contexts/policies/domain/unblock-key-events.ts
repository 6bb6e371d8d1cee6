import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';

/**
 * A key that lets one person pass one block, once. No event contains the key: the store holds its keyed digest as a
 * claim.
 */
export const unblockKeyEvents = defineEvents('unblockKey', {
  UnblockKeyCreated: {
    version: 2,
    schema: z.object({
      /** The user's number of deactivations at that time; the next deactivation voids the key. */
      userDeactivations: z.int(),
      unblockKeyId: uuid(),
      /** The person of the key: its user, or the device's user. Null: not bound, or from before this was recorded. */
      personId: uuid().nullable(),
      domain: z.string(),
      /** Null: anyone who has the key. */
      userId: uuid().nullable(),
      deviceId: uuid().nullable(),
      reason: z.string(),
      expiresAt: z.iso.datetime(),
    }),
    upcasters: { 1: (data: object) => ({ userDeactivations: 0, personId: null, ...data }) },
    personal: { subject: 'personId', fields: ['domain', 'reason'] },
    audit: 'unblock_key.created',
  },
  UnblockKeyUsed: {
    version: 1,
    schema: z.object({ unblockKeyId: uuid(), deviceId: uuid(), userId: uuid(), usedAt: z.iso.datetime() }),
    audit: 'unblock_key.used',
  },
  UnblockKeyRevoked: { version: 1, schema: z.object({ unblockKeyId: uuid() }), audit: 'unblock_key.revoked' },
});
export type UnblockKeyEvent = EventOf<typeof unblockKeyEvents>;
