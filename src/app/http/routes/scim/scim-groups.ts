import { changeProvisionedGroup } from '../../../../../commands/groups/change-provisioned-group.ts';
import { createGroup } from '../../../../../commands/groups/create-group.ts';
import { deleteGroup } from '../../../../../commands/groups/delete-group.ts';
import { groups, type GroupRow } from '../../../../../projections/groups/groups.ts';
import {
  getScimGroup,
  listScimGroups,
  membersOfScimGroups,
  type MemberOfGroup,
} from '../../../../../queries/scim/scim-groups.ts';
import { group, groupStream, type GroupOwner, type GroupState } from '../../../../contexts/groups/domain/group.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';
import { GROUP, groupType } from '../../../../contexts/scim/domain/group-schema.ts';
import { isAboutMembers, memberChangeOf, memberIds } from '../../../../contexts/scim/domain/member-changes.ts';
import { applyPatch } from '../../../../contexts/scim/domain/patch.ts';
import { refuse, type ScimComplex } from '../../../../contexts/scim/domain/read-resource.ts';
import type { Leniency } from '../../../../contexts/scim/domain/normalization.ts';
import { versionTag } from '../../../../contexts/scim/domain/entity-tags.ts';
import { metaOf } from '../../../../contexts/scim/domain/user-resource.ts';
import type { AggregateLoader } from '../../../../platform/execution/aggregate-loader.ts';
import { FailureError, notFound } from '../../../../platform/kernel/failure.ts';
import { isUuid } from '../../../../platform/kernel/ids.ts';
import { newRow } from '../../../../platform/kernel/new-row.ts';
import type { ScimPrincipal } from '../../principal.ts';
import type { AnyRoute } from '../../route.ts';
import { expectedVersion, foundOrLate, leniencyFor, scimCaller } from './scim-request.ts';
import { scimResourceRoutes, type ScimCall, type ScimResource } from './scim-resource.ts';

export interface ScimGroupsRouteDependencies {
  readonly lookups: Lookups;
  readonly loader: AggregateLoader;
}

type Call = ScimCall<ScimGroupsRouteDependencies>;

const MAX_NAME = 200;
/** The response to a PATCH shows the members of a group up to this size. That of a larger group is 204 (§3.5.2). */
const MAX_SHOWN_AFTER_PATCH = 1_000;

const ownerOf = ({ clientId }: ScimPrincipal): GroupOwner => ({ kind: 'scim', id: clientId });

const nameIn = ({ displayName }: ScimComplex): string => {
  const name = (displayName as string).trim();
  if (name === '') return refuse('displayName', 'is required', 'scim_invalid_value');
  return name.length > MAX_NAME
    ? refuse('displayName', `must be at most ${MAX_NAME} characters long`, 'scim_invalid_value')
    : name;
};

const externalIdIn = ({ externalId }: ScimComplex): string | null => {
  if (externalId === undefined) return null;
  const text = externalId as string;
  return text.length > 300 ? refuse('externalId', 'must be at most 300 characters long', 'scim_invalid_value') : text;
};

/** Only what a patch has changed: beside it another one may change the rest. */
function changedIn(
  before: Pick<GroupState, 'name' | 'externalId'>,
  after: ScimComplex,
): Pick<Change, 'name' | 'externalId'> {
  const [name, externalId] = [nameIn(after), externalIdIn(after)];
  return {
    ...(name === before.name ? {} : { name }),
    ...(externalId === before.externalId ? {} : { externalId }),
  };
}

function membersIn({ members }: ScimComplex): string[] {
  const ids = [...new Set(memberIds(members))];
  if (!ids.every(isUuid)) refuse('members.value', 'has to be the id of a user', 'scim_invalid_value');
  return ids;
}

const later = (a: string, b: string): string => (a > b ? a : b);

function groupResource(row: GroupRow, members: readonly MemberOfGroup[] | undefined, base: string): ScimComplex {
  const facts = {
    id: row.group_id,
    createdAt: row.created_at,
    modifiedAt: later(row.updated_at, row.members_changed_at),
    version: row.version,
    base,
  };
  const listed = (members ?? []).map(({ user_id: value, display_name: display }) => ({
    value,
    $ref: `${base}/Users/${value}`,
    type: 'User',
    display,
  }));
  return {
    schemas: [GROUP],
    id: row.group_id,
    ...(row.external_id === null ? {} : { externalId: row.external_id }),
    displayName: row.name,
    ...(listed.length > 0 ? { members: listed } : {}),
    meta: metaOf(
      'Group',
      facts,
      listed.map(({ display }) => display),
    ),
  };
}

/** A group of another client is not found. */
async function stateOf({ services, principal }: Call, groupId: string): Promise<GroupState> {
  const state = await services.loader.load(group, groupStream(principal.tenantId, groupId));
  if (!state.exists || state.source !== 'scim' || state.sourceId !== principal.clientId)
    throw new FailureError(notFound());
  return state;
}

type Change = Omit<Parameters<typeof changeProvisionedGroup.stream>[0], 'groupId' | 'source'>;

async function change(call: Call, groupId: string, changes: Change, leniency: Leniency) {
  const { run, principal, request } = call;
  const input = { groupId, source: ownerOf(principal), ...changes };
  return (await run(changeProvisionedGroup, input, scimCaller(request, principal, leniency))).result;
}

const scimGroups: ScimResource<ScimGroupsRouteDependencies, GroupRow> = {
  type: groupType,
  noun: 'group',
  plural: 'Groups',
  described: {
    list: { description: 'As the list of users. `excludedAttributes=members` makes it cheap for large groups.' },
    create: {
      description:
        'The name is unique in the tenant (409 `uniqueness`). Members are users; groups in groups are not supported.',
    },
    get: { refuses: ['scim_too_many'] },
    replace: { description: 'Members that are left out are removed.' },
    patch: {
      description:
        'RFC 7644 §3.5.2. All operations are carried out, or none. A group with more than 1000 members gets 204 without a body, unless `attributes` is given.',
    },
    remove: {
      description:
        'Its members stay. A policy that was attached only to this group applies to nobody until it is changed.',
    },
  },

  list: ({ ask, principal }, request) => ask(listScimGroups, { clientId: principal.clientId, ...request }),

  get: (call, groupId) =>
    foundOrLate(call.ask(getScimGroup, { clientId: call.principal.clientId, groupId }), () => stateOf(call, groupId)),

  async create({ principal, request, run, created }, resource, leniency) {
    const input = {
      name: nameIn(resource),
      description: '',
      owner: ownerOf(principal),
      externalId: externalIdIn(resource),
      userIds: membersIn(resource),
    };
    const executed = await run(createGroup, input, scimCaller(request, principal, leniency));
    const { groupId } = executed.result;
    const row = await created(executed, getScimGroup, { clientId: principal.clientId, groupId }, (events) =>
      newRow(groups, { group_id: groupId }, events),
    );
    return { row, isNew: true };
  },

  async replace(call, groupId, resource, leniency) {
    const { version } = await stateOf(call, groupId);
    const changes = {
      name: nameIn(resource),
      externalId: externalIdIn(resource),
      members: membersIn(resource),
      ifVersion: expectedVersion(call.request, version),
    };
    await change(call, groupId, changes, leniency);
    return scimGroups.get(call, groupId);
  },

  async patch(call, groupId, operations, leniency, selection) {
    const { name, externalId, version } = await stateOf(call, groupId);
    const before = { displayName: name, ...(externalId === null ? {} : { externalId }) };
    const described = operations.filter((operation) => !isAboutMembers(operation));
    const after = applyPatch(groupType, before, described, leniency);
    const changes = {
      ...(described.length > 0 ? changedIn({ name, externalId }, after) : {}),
      ...memberChangeOf(operations, leniency),
      ifVersion: expectedVersion(call.request, version),
    };
    const changed = await change(call, groupId, changes, leniency);
    if (changed.total <= MAX_SHOWN_AFTER_PATCH || selection.isExplicit || selection.hides('members'))
      return scimGroups.get(call, groupId);
    call.reply.header('etag', versionTag(changed.version)).status(204);
    return undefined;
  },

  async remove(call, groupId) {
    const { principal, request } = call;
    const { version } = await stateOf(call, groupId);
    const ifVersion = expectedVersion(request, version);
    const caller = scimCaller(request, principal, leniencyFor(principal));
    await call.run(deleteGroup, { groupId, by: ownerOf(principal), ifVersion }, caller);
  },

  /** Members are read only if they are shown: a group may have tens of thousands. */
  async shown({ ask, principal }, rows, { selection, base }) {
    const groupIds = rows.map(({ group_id: groupId }) => groupId);
    const members = selection.hides('members')
      ? undefined
      : await ask(membersOfScimGroups, { clientId: principal.clientId, groupIds });
    return rows.map((row) => groupResource(row, members?.get(row.group_id), base));
  },
};

export const scimGroupRoutes: readonly AnyRoute<ScimGroupsRouteDependencies>[] = scimResourceRoutes(scimGroups);
