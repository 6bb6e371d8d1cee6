import { refuseMissingValue } from '../../src/contexts/log-destinations/domain/header-values.ts';
import {
  destinationSlotClaim,
  destinationSlots,
  logDestination,
  logDestinationSecret,
  logDestinationStream,
} from '../../src/contexts/log-destinations/domain/log-destination.ts';
import type { LogDestination } from '../../src/contexts/log-destinations/domain/events.ts';
import { hiddenConfig, openConfig, storeHidden } from '../../src/contexts/log-destinations/domain/whole-config.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, isFailure, refuseTogether, type Failure } from '../../src/platform/kernel/failure.ts';
import { slotFor, type SlotPorts } from '../../src/platform/resources/slots.ts';
import type { WithDestinations, WithVault } from '../ports.ts';
import { refuseUnreachableDestination } from './reachable-destination.ts';

interface CreateLogDestination {
  readonly destination: Omit<LogDestination, 'secretRef' | 'addressRef' | 'slot'>;
  readonly credential: string | null;
}

interface Facts {
  readonly secretRef: string | null;
  readonly addressRef: string | null;
  readonly slot: number;
}

export const createLogDestination = defineCommand({
  name: 'CreateLogDestination',
  aggregate: logDestination,
  stream: ({ destination }: CreateLogDestination, { tenantId }) =>
    logDestinationStream(tenantId, destination.destinationId),
  async prepare(
    { destination, credential }: CreateLogDestination,
    ports: WithVault & WithDestinations & SlotPorts,
    { tenantId },
  ): Promise<Facts | Failure> {
    const refused = refuseTogether(
      refuseMissingValue(destination.config),
      await refuseUnreachableDestination(ports.destinations, destination.config, destination),
    );
    if (refused) return refused;
    const found = await slotFor(destinationSlots, tenantId, ports);
    if (isFailure(found)) return found;
    const location = logDestinationSecret(destination.destinationId);
    const secretRef = credential === null ? null : await ports.vault.put(tenantId, location, credential);
    const part = hiddenConfig(destination.config);
    const addressRef = await storeHidden(part, destination.destinationId, ports.vault, tenantId);
    return { secretRef, addressRef, slot: found.slot! };
  },
  decide(state, { destination }, _context, facts: Facts) {
    if (state.destination || state.isDeleted) return conflict();
    const data = { ...destination, ...facts, config: openConfig(destination.config) };
    return accept([{ type: 'LogDestinationCreated', data }], {
      claim: [destinationSlotClaim(facts.slot)],
    });
  },
  whenClaimed: () => 'prepareAgain',
  freshens: ['log_destinations'],
});
