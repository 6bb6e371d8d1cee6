import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { storedDestinationConfig } from './config.ts';
import { logFormats, recordTypes } from './vocabulary.ts';

const destinationId = uuid();

const destination = z.object({
  destinationId,
  /** The claim that bounds the number of destinations. */
  slot: z.int(),
  name: z.string(),
  format: z.enum(logFormats),
  isEnabled: z.boolean(),
  eventTypes: z.array(z.enum(recordTypes)),
  config: storedDestinationConfig,
  /** The credential in the vault; null: none. */
  secretRef: z.string().nullable(),
  /**
   * The whole address and the headers in the vault: `config` then holds the origin and the names (decision 0063). Null: `config` is whole.
   */
  addressRef: z.string().nullable(),
  allowPrivateNetwork: z.boolean(),
  caCertificate: z.string().nullable(),
});
export type LogDestination = z.output<typeof destination>;

/** Headers often hold an API key; an address often is one itself, or has one in its path. */
const guarded = {
  'config.url': 'address',
  'config.endpoint': 'address',
  'config.headers': 'values',
} as const;

const upcasters = { 1: (data: object) => ({ ...data, addressRef: null }) };

/** Where the log is forwarded to. Deliveries are no events: they would be forwarded again. */
export const logDestinationEvents = defineEvents('logDestination', {
  /** Forwarding begins after this event. */
  LogDestinationCreated: {
    version: 2,
    schema: destination,
    upcasters,
    guarded,
    audit: 'log_destination.created',
  },
  /**
   * The complete new content. `isMoved`: what decides where records go has changed. `isSilenced`: it no longer gets the
   * alerts or the audit entries that it got before. Absent in older events.
   */
  LogDestinationUpdated: {
    version: 2,
    schema: destination.extend({ isMoved: z.boolean().optional(), isSilenced: z.boolean().optional() }),
    upcasters,
    guarded,
    audit: 'log_destination.updated',
  },
  LogDestinationDeleted: { version: 1, schema: z.object({ destinationId }), audit: 'log_destination.deleted' },
  /** Events of these times are sent again, beside the live stream. The range ends at this event. */
  LogBackfillRequested: {
    version: 1,
    schema: z.object({ destinationId, backfillId: uuid(), from: z.iso.datetime(), to: z.iso.datetime().nullable() }),
    audit: 'log_destination.backfill_requested',
  },
});
export type LogDestinationEvent = EventOf<typeof logDestinationEvents>;
