import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';

const digest = z.string().regex(/^[0-9a-f]{64}$/);

export const sealSchema = z.object({
  sequence: z.int().positive(),
  hash: digest,
  /** The position of the entry's event in the log, in decimal digits. */
  position: z.string().regex(/^\d{1,20}$/),
  /** The MAC of the previous seal; 64 zeros for the first. */
  previous: digest,
  mac: digest,
});

/**
 * The head of the audit chain at some moment, sealed with the key. Seals are not audited themselves: otherwise each
 * seal would require the next.
 */
export const auditHeadEvents = defineEvents('auditHead', {
  AuditHeadSealed: { version: 1, schema: sealSchema, audit: false },
});
export type AuditHeadEvent = EventOf<typeof auditHeadEvents>;
