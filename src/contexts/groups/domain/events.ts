import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';

/** The origin of a group: maintained by admins, or synchronized from an identity provider or directory. */
export const groupSources = ['manual', 'scim', 'directory'] as const;
export type GroupSource = (typeof groupSources)[number];

const groupId = uuid();

/** A group of employees. Policies refer to groups, not the other way around. */
export const groupEvents = defineEvents('group', {
  GroupCreated: {
    version: 2,
    schema: z.object({
      groupId,
      name: z.string(),
      description: z.string(),
      source: z.enum(groupSources),
      /** The SCIM client or directory source that owns the group. Null: administrators own it. */
      sourceId: uuid().nullable(),
      externalId: z.string().nullable(),
    }),
    upcasters: { 1: (data: object) => ({ sourceId: null, ...data }) },
    audit: 'group.created',
  },
  /** The complete new content of the group. */
  GroupUpdated: {
    version: 1,
    schema: z.object({ groupId, name: z.string(), description: z.string(), externalId: z.string().nullable() }),
    audit: 'group.updated',
  },
  /** The group's source is gone: administrators own the group from now on. */
  GroupReleased: { version: 1, schema: z.object({ groupId }), audit: 'group.released' },
  /** The source that released the group maintains it again. Its members will be those of the source. */
  GroupReclaimed: {
    version: 1,
    schema: z.object({ groupId, source: z.enum(groupSources).exclude(['manual']), sourceId: uuid() }),
    audit: 'group.reclaimed',
  },
  GroupDeleted: { version: 1, schema: z.object({ groupId }), audit: 'group.deleted' },
  GroupMembersAdded: {
    version: 1,
    schema: z.object({ groupId, userIds: z.array(uuid()) }),
    audit: 'group.members_added',
  },
  GroupMembersRemoved: {
    version: 1,
    schema: z.object({ groupId, userIds: z.array(uuid()) }),
    audit: 'group.members_removed',
  },
});
export type GroupEvent = EventOf<typeof groupEvents>;
