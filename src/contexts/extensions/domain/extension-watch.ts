import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { extensionWatchEvents } from './watch-events.ts';

export interface ExtensionWatchState {
  /** Extensions of this device that were reported as unwhitelisted: the latest `TOLD_KEPT`, in order. */
  readonly told: ReadonlySet<string>;
  /** The latest observations of changed permissions: each counts once. */
  readonly changes: readonly string[];
}

/** Effects are repeated only after a crash, within the batch in progress. Such a batch has fewer changes. */
const CHANGES_KEPT = 1_000;
/**
 * Equals the maximum size of an inventory. If a browser claims more installations one by one, the oldest are reported
 * again. One event about all of them (ids of 128 characters, up to six bytes each in JSON) stays within the limit of
 * one append.
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
