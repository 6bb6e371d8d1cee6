import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { extensionWatchEvents } from './watch-events.ts';

export interface ExtensionWatchState {
  /** Extensions of this device that were reported as unwhitelisted, the latest `TOLD_KEPT` of them in order. */
  readonly told: ReadonlySet<string>;
  /** The latest observations of changed permissions, so that one counts once. */
  readonly changes: readonly string[];
}

/** An effect is repeated only around a crash, within the batch under way then: fewer than this. */
const CHANGES_KEPT = 1_000;
/**
 * As many as an inventory may have. A browser that claims more installs one by one has the oldest reported again; what one event
 * says of all of them (identifiers of 128 characters, of up to six bytes each in JSON) stays within what one append may hold.
 */
const TOLD_KEPT = 500;

export const extensionWatch = defineAggregate<ExtensionWatchState, typeof extensionWatchEvents>(
  extensionWatchEvents,
  { told: new Set(), changes: [] },
  (state, event) => {
    switch (event.type) {
      case 'UnwhitelistedExtensionsFound':
        return {
          ...state,
          told: new Set(
            [...state.told, ...event.data.extensions.map(({ extensionId }) => extensionId)].slice(-TOLD_KEPT),
          ),
        };
      case 'UnwhitelistedExtensionsCleared': {
        const cleared = new Set(event.data.extensionIds);
        return { ...state, told: new Set([...state.told].filter((extensionId) => !cleared.has(extensionId))) };
      }
      case 'ExtensionPermissionsChanged':
        return { ...state, changes: [...state.changes.slice(1 - CHANGES_KEPT), event.data.change.observationId] };
    }
  },
);

export const extensionWatchStream = (tenantId: TenantId, deviceId: string): string =>
  streamName('extensionWatch', tenantId, deviceId);
