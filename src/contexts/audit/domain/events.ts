import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';

const digest = z.string().regex(/^[0-9a-f]{64}$/);

export const sealSchema = z.object({
  sequence: z.int().positive(),
  hash: digest,
  /** Where the entry's event stands in the feed, in decimal digits. */
  position: z.string().regex(/^\d{1,20}$/),
  /** The mac of the seal before; 64 zeros for the first. */
  previous: digest,
  mac: digest,
});

/**
 * What the audit chain's head was at some moment, told by somebody who holds the key. Seals speak about the chain and stand
 * outside of it: otherwise each one would call for the next.
 */
export const auditHeadEvents = defineEvents('auditHead', {
  AuditHeadSealed: { version: 1, schema: sealSchema, audit: false },
});
export type AuditHeadEvent = EventOf<typeof auditHeadEvents>;
