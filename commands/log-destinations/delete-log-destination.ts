import {
  destinationSlotClaim,
  logDestination,
  logDestinationStream,
} from '../../src/contexts/log-destinations/domain/log-destination.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface DeleteLogDestination {
  readonly destinationId: string;
}

/** Its checkpoints and its list of refused records go with it. */
export const deleteLogDestination = defineCommand({
  name: 'DeleteLogDestination',
  aggregate: logDestination,
  stream: ({ destinationId }: DeleteLogDestination, { tenantId }) => logDestinationStream(tenantId, destinationId),
  decide({ destination }, { destinationId }) {
    if (!destination) return notFound();
    return accept([{ type: 'LogDestinationDeleted', data: { destinationId } }], {
      release: [destinationSlotClaim(destination.slot)],
      forget: [destination.secretRef, destination.addressRef],
    });
  },
  freshens: ['log_destinations'],
});
