import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents } from '../../../platform/kernel/event.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';

/**
 * Refused recoveries, each in its own short stream: requests from unknown clients must not lengthen a stream that
 * decisions load. Nothing of the request is stored.
 */
export const recoveryEvents = defineEvents('recovery', {
  RecoveryRefused: {
    version: 1,
    schema: z.object({ reason: z.enum(['wrong_key', 'unknown_account', 'ambiguous_account']) }),
    audit: 'recovery.refused',
  },
});

export const recovery = defineAggregate<{ readonly refused: boolean }, typeof recoveryEvents>(
  recoveryEvents,
  { refused: false },
  () => ({ refused: true }),
);
export const recoveryStream = (tenantId: TenantId, attemptId: string): string =>
  streamName('recovery', tenantId, attemptId);
