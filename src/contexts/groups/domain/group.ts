import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { Claim } from '../../../platform/kernel/command.ts';

import { conflict, type Failure } from '../../../platform/kernel/failure.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { refersTo } from '../../../platform/resources/references.ts';
import { MemberSet } from './member-set.ts';
import { groupEvents, type GroupSource } from './events.ts';

export interface GroupState {
  readonly exists: boolean;
  readonly name: string;
  readonly description: string;
  readonly source: GroupSource;
  /** Null in a group of administrators. */
  readonly sourceId: string | null;
  readonly externalId: string | null;
  /** The source that released the group to administrators. */
  readonly formerOwner: GroupOwner | null;
  readonly members: MemberSet;
  /** The number of changes, the same in the read model `groups`. */
  readonly version: number;
}

const initial: GroupState = {
  exists: false,
  name: '',
  description: '',
  source: 'manual',
  sourceId: null,
  externalId: null,
  formerOwner: null,
  members: MemberSet.empty,
  version: 0,
};

const ownerOf = ({ source, sourceId }: GroupState): GroupOwner | null =>
  source === 'manual' || sourceId === null ? null : { kind: source, id: sourceId };

export const group = defineAggregate<GroupState, typeof groupEvents>(groupEvents, initial, (state, event) => {
  const version = state.version + 1;
  switch (event.type) {
    case 'GroupCreated': {
      const { name, description, source, sourceId, externalId } = event.data;
      return { ...initial, exists: true, name, description, source, sourceId, externalId, version };
    }
    case 'GroupUpdated': {
      const { name, description, externalId } = event.data;
      return { ...state, name, description, externalId, version };
    }
    case 'GroupReleased':
      return { ...state, source: 'manual', sourceId: null, formerOwner: ownerOf(state), version };
    case 'GroupReclaimed': {
      const { source, sourceId } = event.data;
      return { ...state, source, sourceId, formerOwner: null, version };
    }
    case 'GroupDeleted':
      return initial;
    case 'GroupMembersAdded':
      return { ...state, members: state.members.with(event.data.userIds), version };
    case 'GroupMembersRemoved':
      return { ...state, members: state.members.without(event.data.userIds), version };
  }
});

export const groupStream = (tenantId: TenantId, groupId: string): string => streamName('group', tenantId, groupId);

export const groupReference = refersTo('a group', group, groupStream, ({ exists }) => exists);

/** Names are compared case-insensitively (choice OP-227). */
export const groupNameClaim = (name: string): Claim => ({
  kind: 'group-name',
  value: name.normalize('NFC').toLowerCase(),
  fields: ['name'],
});

/** The source that owns a group, by the ids of the SCIM client or directory source. */
export interface GroupOwner {
  readonly kind: Exclude<GroupSource, 'manual'>;
  readonly id: string;
}

/** A group's id at its source is unique there. */
export const groupExternalIdClaim = ({ kind, id }: GroupOwner, externalId: string): Claim => ({
  kind: 'group-external-id',
  value: `${kind}|${id}|${externalId}`,
  fields: ['externalId'],
});

/** Everything that is unique about a group, released when it is deleted. */
export const groupClaims = ({ name, source, sourceId, externalId }: GroupState): Claim[] => [
  groupNameClaim(name),
  ...(source === 'manual' || sourceId === null || externalId === null
    ? []
    : [groupExternalIdClaim({ kind: source, id: sourceId }, externalId)]),
];

const OWNERS = { scim: 'SCIM client', directory: 'directory source' } as const;

/** The refusal of a change by anybody but the group's owner (choice OP-229). Null: by an administrator. */
export function refuseUnlessOwner({ source, sourceId }: GroupState, by: GroupOwner | null): Failure | undefined {
  if (source === (by?.kind ?? 'manual') && (source === 'manual' || sourceId === (by?.id ?? null))) return undefined;
  const owner = source === 'manual' ? 'administrators' : `${OWNERS[source]}${sourceId === null ? '' : ` ${sourceId}`}`;
  return conflict('group_managed', `the group is managed by ${owner}`);
}
