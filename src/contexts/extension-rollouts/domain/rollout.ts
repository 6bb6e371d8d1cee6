import { browserTypes } from '../../devices/domain/events.ts';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { Claim } from '../../../platform/kernel/command.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { slotKind } from '../../../platform/resources/slots.ts';
import { extensionRolloutEvents, type RolloutContent } from './events.ts';

export const rolloutStates = ['draft', 'active', 'paused', 'halted', 'completed', 'rolled_back'] as const;
export type RolloutStatus = (typeof rolloutStates)[number];

export interface RolloutState {
  /** `none`: it never existed, or was deleted as a draft. */
  readonly status: RolloutStatus | 'none';
  readonly content: RolloutContent;
  readonly slot: number;
  /** Index of the current stage. */
  readonly stage: number;
  /** When the stage began or the rollout was resumed, in epoch milliseconds: the soak time counts from here. */
  readonly stageSince: number;
  readonly round: number;
}

const initial: RolloutState = {
  status: 'none',
  content: {
    version: '',
    browserType: null,
    rollbackVersion: null,
    returnsOnHalt: false,
    stages: [],
    halt: { factor: 1, minErrors: 1, minDevices: 1 },
  },
  slot: 0,
  stage: 0,
  stageSince: 0,
  round: 0,
};

export const rollout = defineAggregate<RolloutState, typeof extensionRolloutEvents>(
  extensionRolloutEvents,
  initial,
  (state, event) => {
    switch (event.type) {
      case 'ExtensionRolloutDrafted':
        return { ...state, status: 'draft', slot: event.data.slot, content: event.data.content };
      case 'ExtensionRolloutChanged':
        return { ...state, content: event.data.content };
      case 'ExtensionRolloutDeleted':
        return initial;
      case 'ExtensionRolloutStarted':
      case 'ExtensionRolloutResumed': {
        const { round, decidedAt } = event.data;
        return { ...state, status: 'active', round, stageSince: Date.parse(decidedAt) };
      }
      case 'ExtensionRolloutAdvanced':
        return { ...state, stage: event.data.stage, stageSince: Date.parse(event.data.decidedAt) };
      case 'ExtensionRolloutPaused':
        return { ...state, status: 'paused' };
      case 'ExtensionRolloutHalted':
        return { ...state, status: 'halted' };
      case 'ExtensionRolloutCompleted':
        return { ...state, status: 'completed' };
      case 'ExtensionRolloutRolledBack':
        return { ...state, status: 'rolled_back' };
    }
  },
);

export const rolloutStream = (tenantId: TenantId, rolloutId: string): string =>
  streamName('extensionRollout', tenantId, rolloutId);

/** What the entity tag covers: all that an administrator decides about. */
export const shownRollout = ({ status, content, stage, round }: RolloutState) =>
  status === 'none' ? undefined : { ...content, status, stage, round };

/** Exact limit of drafts and rollouts that have not ended. For `slotFor`. */
export const rolloutSlots = { noun: 'extensionRollout', most: 50 } as const;
export const rolloutSlotClaim = (slot: number): Claim => ({
  kind: slotKind(rolloutSlots.noun),
  value: String(slot),
});

const LIVE = 'live-extension-rollout';
/** Devices that did not say what their browser is belong only to rollouts for all browsers. */
const UNKNOWN = 'unknown';

/** A device must get one direction: from start to end, a rollout owns its browsers. */
export const liveClaims = ({ browserType }: RolloutContent): Claim[] =>
  (browserType === null ? [...browserTypes, UNKNOWN] : [browserType]).map((value) => ({ kind: LIVE, value }));

/** Started, and neither completed nor rolled back. */
export const isLive = (status: RolloutState['status']): boolean => ['active', 'paused', 'halted'].includes(status);

/** What a rollout gives up when it ends. */
export const releasedAtEnd = ({ content, slot }: RolloutState): Claim[] => [
  ...liveClaims(content),
  rolloutSlotClaim(slot),
];
