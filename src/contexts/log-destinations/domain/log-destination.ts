import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { Claim } from '../../../platform/kernel/command.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { slotKind } from '../../../platform/resources/slots.ts';
import { MAX_DESTINATIONS } from './config.ts';
import { logDestinationEvents, type LogDestination } from './events.ts';

export interface LogDestinationState {
  /** Undefined before it is created and after it is deleted. */
  readonly destination: LogDestination | undefined;
  readonly isDeleted: boolean;
}

const initial: LogDestinationState = { destination: undefined, isDeleted: false };

export const logDestination = defineAggregate<LogDestinationState, typeof logDestinationEvents>(
  logDestinationEvents,
  initial,
  (state, event) => {
    switch (event.type) {
      case 'LogDestinationCreated':
        return { ...state, destination: event.data };
      case 'LogDestinationUpdated': {
        const { isMoved: _moved, isSilenced: _silenced, ...destination } = event.data;
        return { ...state, destination };
      }
      case 'LogDestinationDeleted':
        return { destination: undefined, isDeleted: true };
      case 'LogBackfillRequested':
        return state;
    }
  },
);

export const logDestinationStream = (tenantId: TenantId, destinationId: string): string =>
  streamName('logDestination', tenantId, destinationId);

export const logDestinationSecret = (destinationId: string) => ({
  owner: `log-destination/${destinationId}`,
  field: 'credential',
});

export const logDestinationAddress = (destinationId: string) => ({
  owner: `log-destination/${destinationId}`,
  field: 'address',
});

export const destinationSlots = { noun: 'logDestination', most: MAX_DESTINATIONS };

export const destinationSlotClaim = (slot: number): Claim => ({
  kind: slotKind(destinationSlots.noun),
  value: String(slot),
});
