import type { z } from 'zod';
import {
  parkedEventRequests,
  parkedEventsRequest,
  parkedEventsStream,
} from '../../src/contexts/installation/domain/parked-events.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

type Retry = z.output<typeof parkedEventRequests.definitions.ParkedEventsRetried.schema>;
type Skip = z.output<typeof parkedEventRequests.definitions.ParkedEventsSkipped.schema>;

/** For the audit log: an operator retried parked events of the tenant. */
export const recordParkedRetry = defineCommand({
  name: 'RecordParkedRetry',
  aggregate: parkedEventsRequest,
  stream: (_input: Retry, { tenantId, id }) => parkedEventsStream(tenantId, id),
  begins: true,
  decide: ({ isMade }, data) => accept(isMade ? [] : [{ type: 'ParkedEventsRetried', data }]),
});

/** For the audit log: an operator skipped parked events of the tenant and gave up their effects. */
export const recordParkedSkip = defineCommand({
  name: 'RecordParkedSkip',
  aggregate: parkedEventsRequest,
  stream: (_input: Skip, { tenantId, id }) => parkedEventsStream(tenantId, id),
  begins: true,
  decide: ({ isMade }, data) => accept(isMade ? [] : [{ type: 'ParkedEventsSkipped', data }]),
});
