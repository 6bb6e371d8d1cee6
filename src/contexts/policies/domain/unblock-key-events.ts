import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';

/** A key that lets one person past one block, once. The key itself is in no event: the store holds a keyed digest of it as a claim. */
export const unblockKeyEvents = defineEvents('unblockKey', {
  UnblockKeyCreated: {
    version: 2,
    schema: z.object({
      /** How often its user had become inactive by then: the next time voids it. */
      userDeactivations: z.int(),
      unblockKeyId: uuid(),
      /** Whose key it is: the user's, or the device's user. Null: anybody's, or from before this was recorded. */
      personId: uuid().nullable(),
      domain: z.string(),
      /** Null: whoever has the key. */
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
});
export type UnblockKeyEvent = EventOf<typeof unblockKeyEvents>;
