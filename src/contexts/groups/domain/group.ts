import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { Claim } from '../../../platform/kernel/command.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { groupEvents, type GroupSource } from './events.ts';

export interface GroupState {
  readonly exists: boolean;
  readonly name: string;
  readonly description: string;
  readonly source: GroupSource;
  readonly externalId: string | null;
  readonly members: ReadonlySet<string>;
}

const initial: GroupState = {
  exists: false,
  name: '',
  description: '',
  source: 'manual',
  externalId: null,
  members: new Set(),
};

export const group = defineAggregate<GroupState, typeof groupEvents>(groupEvents, initial, (state, event) => {
  switch (event.type) {
    case 'GroupCreated': {
      const { name, description, source, externalId } = event.data;
      return { ...initial, exists: true, name, description, source, externalId };
    }
    case 'GroupUpdated': {
      const { name, description, externalId } = event.data;
      return { ...state, name, description, externalId };
    }
    case 'GroupDeleted':
      return initial;
    case 'GroupMembersAdded':
      return { ...state, members: new Set([...state.members, ...event.data.userIds]) };
    case 'GroupMembersRemoved': {
      const gone = new Set(event.data.userIds);
      return { ...state, members: new Set([...state.members].filter((userId) => !gone.has(userId))) };
    }
  }
});

export const groupStream = (tenantId: TenantId, groupId: string): string => streamName('group', tenantId, groupId);

/** Names are compared case-insensitively (choice OP-227). */
export const groupNameClaim = (name: string): Claim => ({
  kind: 'group-name',
  value: name.normalize('NFC').toLowerCase(),
  fields: ['name'],
});
