import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';

/** Who keeps a group: admins by hand, or an identity provider or directory that is asked again and again. */
export const groupSources = ['manual', 'scim', 'directory'] as const;
export type GroupSource = (typeof groupSources)[number];

const groupId = uuid();

/** A group of employees. Which policies it is attached to is said by the policies. */
export const groupEvents = defineEvents('group', {
  GroupCreated: {
    version: 1,
    schema: z.object({
      groupId,
      name: z.string(),
      description: z.string(),
      source: z.enum(groupSources),
      externalId: z.string().nullable(),
    }),
    audit: 'group.created',
  },
  /** The whole of it, as it is from now on. */
  GroupUpdated: {
    version: 1,
    schema: z.object({ groupId, name: z.string(), description: z.string(), externalId: z.string().nullable() }),
    audit: 'group.updated',
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
