import type { Observation, ObservationOf } from '../../telemetry/domain/observation.ts';

type Reported = ObservationOf<'extension_inventory' | 'extension_event'>;

/** The attributes that a browser reports about an extension. Attributes that it left out are absent. */
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
 * Orders the reports of one browser: text that sorts by time. At the same time an event outranks the inventory; the id
 * breaks ties. Last writer wins by this stamp, per attribute: the result is the same in any order and with repetitions.
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

/** The sightings of an observation, one per extension. */
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

/**
 * An inventory covers the whole browser (choice OP-158): extensions that are neither in it nor in a later report are
 * gone.
 */
export const isThere = (
  { told, isRemoved }: { readonly told: string; readonly isRemoved: boolean },
  latestInventory: string | undefined,
): boolean => !isRemoved && (latestInventory === undefined || told >= latestInventory);
