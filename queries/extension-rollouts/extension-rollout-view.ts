import { z } from 'zod';
import {
  extensionRollouts,
  transitions,
  type ExtensionRolloutRow,
} from '../../projections/extension-rollouts/extension-rollouts.ts';
import {
  rolloutContent,
  rolloutFigures,
  type RolloutContent,
} from '../../src/contexts/extension-rollouts/domain/events.ts';
import { rolloutStates } from '../../src/contexts/extension-rollouts/domain/rollout.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { RecordedEvent } from '../../src/platform/kernel/event.ts';
import { newRow } from '../../src/platform/kernel/new-row.ts';
import { paginated, type Page, type Paginated, type Query } from '../../src/platform/kernel/query.ts';

const transitionView = z.object({
  at: z.iso.datetime(),
  transition: z.enum(transitions),
  stage: z.int().describe('Index of the stage, from 0'),
  adminId: z.uuid().nullable().describe('Null: the service decided'),
  figures: rolloutFigures.nullable().describe('What the service decided by'),
});

/** OP-511. */
export const extensionRolloutView = z
  .object({
    id: z.uuid(),
    ...rolloutContent.shape,
    status: z.enum(rolloutStates),
    stage: z.int().describe('Index of the current stage, from 0'),
    stageSince: z.iso.datetime().nullable().describe('The soak time counts from here'),
    round: z.int().describe('Counts the start and resumptions; errors count from the last of them'),
    history: z.array(transitionView).describe('Oldest first; the newest 100 transitions'),
    createdBy: z.uuid().nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    startedAt: z.iso.datetime().nullable(),
    endedAt: z.iso.datetime().nullable(),
  })
  .meta({ title: 'ExtensionRollout' });
export type ExtensionRolloutView = z.output<typeof extensionRolloutView>;

export const toExtensionRolloutView = (row: ExtensionRolloutRow): ExtensionRolloutView => ({
  id: row.rollout_id,
  ...row.content,
  status: row.status,
  stage: row.stage,
  stageSince: row.stage_since,
  round: row.round,
  history: row.history.map((one) => ({ ...one })),
  createdBy: row.created_by,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  startedAt: row.started_at,
  endedAt: row.ended_at,
});

/** The part of a view that the entity tag covers: that of `shownRollout`. */
export const shownExtensionRollout = ({ status, stage, round, ...view }: ExtensionRolloutView) => {
  const { version, browserType, rollbackVersion, returnsOnHalt, stages, halt } = view;
  const content: RolloutContent = { version, browserType, rollbackVersion, returnsOnHalt, stages, halt };
  return { ...content, status, stage, round };
};

const ONE = 'select * from extension_rollouts where tenant_id = $1 and rollout_id = $2';

export const getExtensionRollout: Query<{ rolloutId: string }, ExtensionRolloutView> = async (reads, { rolloutId }) => {
  const row = await reads.one<ExtensionRolloutRow>(ONE, [rolloutId]);
  return row ? toExtensionRolloutView(row) : notFound();
};

/** A rollout from the events that drafted it. */
export const viewOfNewExtensionRollout =
  (rolloutId: string) =>
  (events: readonly RecordedEvent[]): ExtensionRolloutView | undefined => {
    const row = newRow(extensionRollouts, { rollout_id: rolloutId }, events);
    return row && toExtensionRolloutView(row);
  };

const LIST = `
  select * from extension_rollouts where tenant_id = $1
   order by created_at desc, rollout_id limit $2 offset $3`;
const COUNT = 'select count(*)::int as total from extension_rollouts where tenant_id = $1';

/** Newest first. */
export const listExtensionRollouts: Query<Page, { rollouts: ExtensionRolloutView[] } & Paginated> = async (
  reads,
  page,
) => {
  const [rows, counted] = await Promise.all([
    reads.rows<ExtensionRolloutRow>(LIST, [page.pageSize, (page.page - 1) * page.pageSize]),
    reads.one<{ total: number }>(COUNT),
  ]);
  return { rollouts: rows.map(toExtensionRolloutView), ...paginated(counted?.total ?? 0, page) };
};
