import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents } from '../../../platform/kernel/event.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';

const position = z.string().regex(/^\d{1,20}$/);

/** The parked events of one stream: names, positions and types only. Their data stays in the log. */
const parkedStream = z.object({
  stream: z.string(),
  events: z.int().positive(),
  firstPosition: position,
  lastPosition: position,
  eventTypes: z.array(z.string()),
});

/** If a request covers more streams, only the first ones are named, but all are counted. */
export const MAX_STREAMS_NAMED = 100;

const request = {
  /** The read model or reaction that parked these streams. */
  projection: z.string(),
  streamCount: z.int().positive(),
  streams: z.array(parkedStream).min(1).max(MAX_STREAMS_NAMED),
};

const about = { resource: 'projection', id: 'projection' } as const;

/**
 * Operators' requests about events of a tenant that a read model or reaction could not process. They are recorded in
 * the audit log of that tenant.
 */
export const parkedEventRequests = defineEvents('parkedEvents', {
  ParkedEventsRetried: {
    version: 1,
    schema: z.object({ ...request, reason: z.string().nullable() }),
    about,
    audit: 'projection.parked_events_retried',
  },
  /** The effects of these events will never be carried out. */
  ParkedEventsSkipped: {
    version: 1,
    schema: z.object({ ...request, reason: z.string() }),
    about,
    audit: 'projection.parked_events_skipped',
  },
});

export const parkedEventsRequest = defineAggregate<{ readonly isMade: boolean }, typeof parkedEventRequests>(
  parkedEventRequests,
  { isMade: false },
  () => ({ isMade: true }),
);
/** Each request has its own short stream. */
export const parkedEventsStream = (tenantId: TenantId, requestId: string): string =>
  streamName('parkedEvents', tenantId, requestId);
