import { defineAggregate, streamName } from '../../kernel/aggregate.ts';
import type { TenantId } from '../../kernel/ids.ts';
import { extensionWatchEvents } from './watch-events.ts';

export interface ExtensionWatchState {
  /** Extensions of this device that were told of as unwhitelisted. */
  readonly told: ReadonlySet<string>;
  /** The latest observations of changed permissions, so that one counts once. */
  readonly changes: readonly string[];
}

/** An effect is repeated only around a crash, within the batch under way then: fewer than this. */
const CHANGES_KEPT = 1_000;

export const extensionWatch = defineAggregate<ExtensionWatchState, typeof extensionWatchEvents>(
  extensionWatchEvents,
  { told: new Set(), changes: [] },
  (state, event) => {
    switch (event.type) {
      case 'UnwhitelistedExtensionsFound':
        return { ...state, told: new Set([...state.told, ...event.data.extensions.map(({ extensionId }) => extensionId)]) };
      case 'UnwhitelistedExtensionsCleared':
        return { ...state, told: new Set([...state.told].filter((extensionId) => !event.data.extensionIds.includes(extensionId))) };
      case 'ExtensionPermissionsChanged':
        return { ...state, changes: [...state.changes.slice(1 - CHANGES_KEPT), event.data.change.observationId] };
    }
  },
);

export const extensionWatchStream = (tenantId: TenantId, deviceId: string): string => streamName('extensionWatch', tenantId, deviceId);
