import type { Observation, ObservationOf } from '../../telemetry/domain/observation.ts';

type Reported = ObservationOf<'extension_inventory' | 'extension_event'>;

/** What a browser can say of an extension; what it left out, it did not say. */
export interface ReportedAttributes {
  readonly isRemoved: boolean;
  readonly name?: string;
  readonly version?: string;
  readonly publisher?: string | null;
  readonly permissions?: readonly string[];
  readonly isEnabled?: boolean;
}

/** One report about one extension of one browser. */
export interface ExtensionSighting {
  readonly extensionId: string;
  readonly stamp: string;
  readonly occurredAt: string;
  readonly observationId: string;
  readonly says: ReportedAttributes;
}

export const isReported = (observation: Observation): observation is Reported =>
  observation.kind === 'extension_inventory' || observation.kind === 'extension_event';

/**
 * The place of a report among all others of its browser: text that sorts by time; at one moment a change knows more than the
 * inventory, and the id decides between equals. Whoever keeps for each thing that is said what bears the greatest stamp ends
 * with the same, in whatever order and however often reports come.
 */
export const sightingStamp = ({ kind, occurredAt, eventId }: Reported): string =>
  `${occurredAt}|${kind === 'extension_event' ? 1 : 0}|${eventId}`;

/** Earliest first. */
export const byStamp = (observations: readonly Observation[]): Reported[] => {
  const stamped = observations
    .filter(isReported)
    .map((observation) => ({ observation, stamp: sightingStamp(observation) }));
  return stamped.sort((a, b) => (a.stamp < b.stamp ? -1 : 1)).map(({ observation }) => observation);
};

/** Everything that an observation says, extension by extension. */
export function sightingsIn(observation: Reported): ExtensionSighting[] {
  const common = {
    stamp: sightingStamp(observation),
    occurredAt: observation.occurredAt,
    observationId: observation.eventId,
  };
  if (observation.kind === 'extension_event')
    return [{ ...common, extensionId: observation.extensionId, says: saidBy(observation) }];
  return observation.extensions.map(({ extensionId, ...says }) => ({
    ...common,
    extensionId,
    says: { isRemoved: false, ...says },
  }));
}

function saidBy({ change, name, version, permissions }: ObservationOf<'extension_event'>): ReportedAttributes {
  return {
    isRemoved: change === 'removed',
    ...(name === null ? {} : { name }),
    ...(version === null ? {} : { version }),
    ...(permissions === null ? {} : { permissions }),
    ...(change === 'disabled'
      ? { isEnabled: false }
      : change === 'enabled' || change === 'installed'
        ? { isEnabled: true }
        : {}),
  };
}

/** An inventory speaks for the whole browser (choice OP-158): what it does not name, and nothing later does, is gone. */
export const isThere = (
  { told, isRemoved }: { readonly told: string; readonly isRemoved: boolean },
  latestInventory: string | undefined,
): boolean => !isRemoved && (latestInventory === undefined || told >= latestInventory);
