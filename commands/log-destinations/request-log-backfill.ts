import { logDestination, logDestinationStream } from '../../src/contexts/log-destinations/domain/log-destination.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { invalid, notFound, refuseTogether } from '../../src/platform/kernel/failure.ts';

interface RequestLogBackfill {
  readonly destinationId: string;
  readonly from: string;
  /** Null: until now. */
  readonly to: string | null;
}

/** The backfill's id is that of the command. A new one takes the place of one that is under way. */
export const requestLogBackfill = defineCommand({
  name: 'RequestLogBackfill',
  aggregate: logDestination,
  stream: ({ destinationId }: RequestLogBackfill, { tenantId }) => logDestinationStream(tenantId, destinationId),
  decide({ destination }, { destinationId, from, to }, { id: backfillId, now }) {
    if (!destination) return notFound();
    const refused = refuseTogether(
      Date.parse(from) > now ? invalid('from', 'must not be in the future') : undefined,
      to !== null && to < from ? invalid('to', 'must not be before from') : undefined,
    );
    if (refused) return refused;
    return acceptWith({ backfillId }, [
      { type: 'LogBackfillRequested', data: { destinationId, backfillId, from, to } },
    ]);
  },
  freshens: ['log_destinations'],
});
