import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { directorySourceEvents, type DirectorySource } from './events.ts';

/** The synchronization that is under way or waits for a confirmation. */
export interface OpenSync {
  readonly syncId: string;
  readonly isDryRun: boolean;
  readonly state: 'syncing' | 'awaiting_confirmation';
  /** A super admin confirmed the deactivations of its plan. */
  readonly isConfirmed: boolean;
}

export interface DirectorySourceState {
  /** Undefined before it is created and after it is deleted. */
  readonly source: DirectorySource | undefined;
  readonly groupIds: readonly string[];
  readonly sync: OpenSync | undefined;
  readonly isDeleted: boolean;
}

const initial: DirectorySourceState = { source: undefined, groupIds: [], sync: undefined, isDeleted: false };

export const directorySource = defineAggregate<DirectorySourceState, typeof directorySourceEvents>(
  directorySourceEvents,
  initial,
  (state, event) => {
    switch (event.type) {
      case 'DirectorySourceCreated':
      case 'DirectorySourceUpdated':
        return { ...state, source: event.data };
      case 'DirectorySourceDeleted':
        return { ...initial, isDeleted: true };
      case 'DirectoryGroupsSelected':
        return { ...state, groupIds: event.data.groupIds };
      case 'DirectorySyncStarted': {
        const { syncId, isDryRun } = event.data;
        return { ...state, sync: { syncId, isDryRun, state: 'syncing', isConfirmed: false } };
      }
      case 'DirectorySyncHeld':
        return { ...state, sync: state.sync && { ...state.sync, state: 'awaiting_confirmation', isConfirmed: false } };
      case 'DirectorySyncConfirmed':
        return { ...state, sync: state.sync && { ...state.sync, state: 'syncing', isConfirmed: true } };
      case 'DirectorySyncEnded':
        return { ...state, sync: state.sync?.syncId === event.data.syncId ? undefined : state.sync };
    }
  },
);

export const directorySourceStream = (tenantId: TenantId, sourceId: string): string =>
  streamName('directorySource', tenantId, sourceId);

export const directorySecretLocation = (sourceId: string) => ({
  owner: `directory-source/${sourceId}`,
  field: 'credential',
});

/** At least so many people are missing before a plan is held: single leavers of a small company are no accident. */
export const HELD_FROM = 10;

/** Whether a plan must be confirmed before it deactivates anybody. */
export const needsConfirmation = (deactivations: number, linkedPeople: number, maxShare: number): boolean =>
  deactivations >= HELD_FROM && deactivations * 100 > linkedPeople * maxShare;
