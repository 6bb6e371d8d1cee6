import { groupEvents, type GroupSource } from '../../src/contexts/groups/domain/events.ts';
import {
  at,
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
  group_id: id,
  name: text,
  description: text,
  source: text as Column<GroupSource>,
  /** The SCIM client or directory source that owns the group. */
  source_id: nullable(id),
  /** The source that released the group to administrators. */
  former_source_id: nullable(id),
  external_id: nullable(text),
  /** The number of changes: the ETag of the group at its source. */
  version: integer,
  created_at: timestamp,
  updated_at: timestamp,
  members_changed_at: timestamp,
};
export type GroupRow = Row<{ columns: typeof columns }>;

const changedBy = (row: GroupRow, event: { recordedAt: number }) => ({
  version: row.version + 1,
  updated_at: at(event),
});

/** The groups. Members and policies are in other tables. */
export const groups = defineReadModel({
  name: 'groups',
  version: 3,
  lane: 'main',
  columns,
  key: ['group_id'],
  indexes: [
    ['created_at desc', 'group_id'],
    ['source', 'source_id', 'created_at', 'group_id'],
    ['source_id', 'external_id'],
    ['former_source_id', 'external_id'],
  ],
  families: [groupEvents],
  on: {
    GroupCreated: (event) => ({
      key: { group_id: event.data.groupId },
      fold: () => {
        const { groupId, name, description, source, sourceId, externalId } = event.data;
        return {
          group_id: groupId,
          name,
          description,
          source,
          source_id: sourceId,
          former_source_id: null,
          external_id: externalId,
          version: 1,
          created_at: at(event),
          updated_at: at(event),
          members_changed_at: at(event),
        };
      },
    }),
    GroupUpdated: (event) => ({
      key: { group_id: event.data.groupId },
      fold: (row) =>
        row && {
          ...row,
          name: event.data.name,
          description: event.data.description,
          external_id: event.data.externalId,
          ...changedBy(row, event),
        },
    }),
    GroupReleased: (event) => ({
      key: { group_id: event.data.groupId },
      fold: (row) =>
        row && {
          ...row,
          source: 'manual',
          source_id: null,
          former_source_id: row.source_id,
          ...changedBy(row, event),
        },
    }),
    GroupReclaimed: (event) => ({
      key: { group_id: event.data.groupId },
      fold: (row) =>
        row && {
          ...row,
          source: event.data.source,
          source_id: event.data.sourceId,
          former_source_id: null,
          ...changedBy(row, event),
        },
    }),
    GroupMembersAdded: (event) => ({
      key: { group_id: event.data.groupId },
      fold: (row) => row && { ...row, version: row.version + 1, members_changed_at: at(event) },
    }),
    GroupMembersRemoved: (event) => ({
      key: { group_id: event.data.groupId },
      fold: (row) => row && { ...row, version: row.version + 1, members_changed_at: at(event) },
    }),
    GroupDeleted: ({ data: { groupId } }) => ({ key: { group_id: groupId }, fold: () => undefined }),
  },
});
