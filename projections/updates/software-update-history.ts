import { softwareUpdateEvents, type UpdateAction } from '../../src/contexts/updates/domain/events.ts';
import {
  defineReadModel,
  id,
  integer,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  update_id: id,
  from_version: text,
  to_version: text,
  action: text as Column<UpdateAction>,
  status: text as Column<'applying' | 'applied' | 'failed' | 'rolled_back'>,
  started_at: timestamp,
  finished_at: nullable(timestamp),
  actor_id: nullable(id),
  exit_code: nullable(integer),
  reason: nullable(text),
  output: nullable(text),
};
export type SoftwareUpdateHistoryRow = Row<{ columns: typeof columns }>;

/** Every update and rollback that was begun. */
export const softwareUpdateHistory = defineReadModel({
  name: 'software_update_history',
  version: 1,
  lane: 'main',
  columns,
  key: ['update_id'],
  indexes: [['started_at', 'update_id']],
  families: [softwareUpdateEvents],
  on: {
    UpdateBegun: ({ data, metadata }) => ({
      key: { update_id: data.updateId },
      fold: () => ({
        update_id: data.updateId,
        from_version: data.fromVersion,
        to_version: data.toVersion,
        action: data.action,
        status: 'applying' as const,
        started_at: data.begunAt,
        finished_at: null,
        actor_id: metadata.actor.id,
        exit_code: null,
        reason: null,
        output: null,
      }),
    }),
    UpdateEnded: ({ data: { updateId, action, hasSucceeded, endedAt, exitCode, reason, output } }) => ({
      key: { update_id: updateId },
      fold: (row) =>
        row && {
          ...row,
          status: !hasSucceeded ? 'failed' : action === 'apply' ? 'applied' : 'rolled_back',
          finished_at: endedAt,
          exit_code: exitCode,
          reason,
          output,
        },
    }),
  },
});
