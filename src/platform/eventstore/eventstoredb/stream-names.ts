import type { TenantId } from '../../kernel/ids.ts';
import { CLAIM_STREAMS } from './claim-stream.ts';

// Every stream of this service is called `<category>-<tenant>.<subject>` (`kernel/aggregate.ts`), claims among them. Another application
// that shares the server would have to choose that very shape to be read at all, and what it wrote would still carry no envelope of ours.
// The server runs these expressions in .NET, unanchored; JavaScript reads them alike.

const CATEGORY = '[A-Za-z][A-Za-z0-9]*';
const TENANT = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const NO_CLAIM = `(?!${CLAIM_STREAMS})`;

/** Streams of events: neither claims nor anything that others keep on the server. */
export const EVENT_STREAMS = `^${NO_CLAIM}${CATEGORY}-${TENANT}\\.`;
/** The same with the streams of claims, for whoever brings claims to an end. */
export const EVENT_AND_CLAIM_STREAMS = `^${CATEGORY}-${TENANT}\\.`;
/** And the metadata of both, which holds retention. */
export const EVENT_CLAIM_AND_METADATA_STREAMS = `^(\\$\\$)?${CATEGORY}-${TENANT}\\.`;
/** One tenant's streams of events. */
export const eventStreamsOf = (tenantId: TenantId): string => `^${NO_CLAIM}${CATEGORY}-${tenantId}\\.`;

const EVENT_STREAM = new RegExp(EVENT_STREAMS, 'u');

/** False for a name that the filters above would hide from every reader of the feed. */
export const isEventStream = (stream: string): boolean => EVENT_STREAM.test(stream);
