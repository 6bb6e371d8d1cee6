import type { TenantId } from '../../kernel/ids.ts';
import { CLAIM_STREAMS } from './claim-stream.ts';

// Every stream of this service, including claims, is named `<category>-<tenant>.<subject>` (`kernel/aggregate.ts`).
// Streams of other applications on the server hardly have such names, and their events have no envelope of ours. The
// server runs these expressions in .NET, unanchored; JavaScript interprets them the same way.

const CATEGORY = '[A-Za-z][A-Za-z0-9]*';
const TENANT = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const NO_CLAIM = `(?!${CLAIM_STREAMS})`;

/** Event streams: neither claims nor streams of other applications. */
export const EVENT_STREAMS = `^${NO_CLAIM}${CATEGORY}-${TENANT}\\.`;
/** Event streams and claim streams, for the claim sweep. */
export const EVENT_AND_CLAIM_STREAMS = `^${CATEGORY}-${TENANT}\\.`;
/** Both and their metadata, which holds retention. */
export const EVENT_CLAIM_AND_METADATA_STREAMS = `^(\\$\\$)?${CATEGORY}-${TENANT}\\.`;
/** The event streams of one tenant. */
export const eventStreamsOf = (tenantId: TenantId): string => `^${NO_CLAIM}${CATEGORY}-${tenantId}\\.`;

const EVENT_STREAM = new RegExp(EVENT_STREAMS, 'u');

/** False for a name that the filters above would hide from all readers of the log. */
export const isEventStream = (stream: string): boolean => EVENT_STREAM.test(stream);
