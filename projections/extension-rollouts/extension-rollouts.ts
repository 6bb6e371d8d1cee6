import {
  extensionRolloutEvents,
  type ExtensionRolloutEvent,
  type RolloutContent,
  type RolloutFigures,
} from '../../src/contexts/extension-rollouts/domain/events.ts';
import type { RolloutStatus } from '../../src/contexts/extension-rollouts/domain/rollout.ts';
import type { RecordedEvent } from '../../src/platform/kernel/event.ts';
import {
  at,
  defineReadModel,
  id,
  integer,
  json,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

/** The newest transitions. A rollout has a few; only pausing and resuming for days makes more. */
const TRANSITIONS_KEPT = 100;

export const transitions = ['started', 'advanced', 'paused', 'resumed', 'halted', 'completed', 'rolled_back'] as const;

export interface Transition {
  readonly at: string;
  readonly transition: (typeof transitions)[number];
  readonly stage: number;
  /** Null: the service decided. */
  readonly adminId: string | null;
  /** What the service decided by. */
  readonly figures: RolloutFigures | null;
}

const columns = {
  rollout_id: id,
  status: text as Column<RolloutStatus>,
  content: json<RolloutContent>(),
  salt: text,
  stage: integer,
  stage_since: nullable(timestamp),
  round: integer,
  history: json<readonly Transition[]>(),
  created_by: nullable(id),
  created_at: timestamp,
  updated_at: timestamp,
  started_at: nullable(timestamp),
  ended_at: nullable(timestamp),
};
export type ExtensionRolloutRow = Row<{ columns: typeof columns }>;

type Decided = Extract<ExtensionRolloutEvent, { data: { decidedAt: string } }>;

const withTransition = (
  row: ExtensionRolloutRow,
  { data, metadata }: RecordedEvent<Decided>,
  transition: Transition['transition'],
): readonly Transition[] => {
  const { actor } = metadata;
  const one: Transition = {
    at: data.decidedAt,
    transition,
    stage: 'stage' in data ? data.stage : 0,
    adminId: actor.kind === 'system' ? null : actor.id,
    figures: 'figures' in data ? data.figures : null,
  };
  return [...row.history, one].slice(-TRANSITIONS_KEPT);
};

/** Changes an existing rollout, and adds the transition to its history. */
const move =
  <E extends RecordedEvent<Decided>>(
    transition: Transition['transition'],
    changed: (data: E['data'], row: ExtensionRolloutRow) => Partial<ExtensionRolloutRow>,
  ) =>
  (event: E) => ({
    key: { rollout_id: event.data.rolloutId },
    fold: (row: ExtensionRolloutRow | undefined) =>
      row && {
        ...row,
        ...changed(event.data, row),
        history: withTransition(row, event, transition),
        updated_at: at(event),
      },
  });

/** Rollouts of versions of our extension, as decisions see them, with their history. */
export const extensionRollouts = defineReadModel({
  name: 'extension_rollouts',
  version: 1,
  lane: 'main',
  columns,
  key: ['rollout_id'],
  indexes: [['created_at desc', 'rollout_id'], ['started_at desc']],
  families: [extensionRolloutEvents],
  on: {
    ExtensionRolloutDrafted: (event) => ({
      key: { rollout_id: event.data.rolloutId },
      fold: () => ({
        rollout_id: event.data.rolloutId,
        status: 'draft' as const,
        content: event.data.content,
        salt: event.data.salt,
        stage: 0,
        stage_since: null,
        round: 0,
        history: [],
        created_by: event.metadata.actor.id,
        created_at: at(event),
        updated_at: at(event),
        started_at: null,
        ended_at: null,
      }),
    }),
    ExtensionRolloutChanged: (event) => ({
      key: { rollout_id: event.data.rolloutId },
      fold: (row) => row && { ...row, content: event.data.content, updated_at: at(event) },
    }),
    ExtensionRolloutDeleted: ({ data: { rolloutId } }) => ({ key: { rollout_id: rolloutId }, fold: () => undefined }),
    ExtensionRolloutStarted: move('started', ({ decidedAt, round }) => ({
      status: 'active',
      round,
      stage_since: decidedAt,
      started_at: decidedAt,
    })),
    ExtensionRolloutAdvanced: move('advanced', ({ decidedAt, stage }) => ({ stage, stage_since: decidedAt })),
    ExtensionRolloutPaused: move('paused', () => ({ status: 'paused' })),
    ExtensionRolloutResumed: move('resumed', ({ decidedAt, round }) => ({
      status: 'active',
      round,
      stage_since: decidedAt,
    })),
    ExtensionRolloutHalted: move('halted', () => ({ status: 'halted' })),
    ExtensionRolloutCompleted: move('completed', ({ decidedAt }) => ({ status: 'completed', ended_at: decidedAt })),
    ExtensionRolloutRolledBack: move('rolled_back', ({ decidedAt }) => ({
      status: 'rolled_back',
      ended_at: decidedAt,
    })),
  },
});
