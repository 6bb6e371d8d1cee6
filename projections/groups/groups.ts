import { groupEvents, type GroupSource } from '../../src/contexts/groups/domain/events.ts';
import {
  at,
  defineReadModel,
  id,
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
  external_id: nullable(text),
  created_at: timestamp,
  updated_at: timestamp,
};
export type GroupRow = Row<{ columns: typeof columns }>;

/** The groups. Members and policies are in other tables. */
export const groups = defineReadModel({
  name: 'groups',
  version: 1,
  lane: 'main',
  columns,
  key: ['group_id'],
  indexes: [['created_at desc', 'group_id']],
  families: [groupEvents],
  on: {
    GroupCreated: (event) => ({
      key: { group_id: event.data.groupId },
      fold: () => {
        const { groupId, name, description, source, externalId } = event.data;
        return {
          group_id: groupId,
          name,
          description,
          source,
          external_id: externalId,
          created_at: at(event),
          updated_at: at(event),
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
          updated_at: at(event),
        },
    }),
    GroupDeleted: ({ data: { groupId } }) => ({ key: { group_id: groupId }, fold: () => undefined }),
  },
});
