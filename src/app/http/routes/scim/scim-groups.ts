import { z } from 'zod';
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
import { applyPatch, readPatch } from '../../../../contexts/scim/domain/patch.ts';
import { readResource, refuse, type ScimComplex } from '../../../../contexts/scim/domain/read-resource.ts';
import type { Selection } from '../../../../contexts/scim/domain/selection.ts';
import { metaOf, versionTag } from '../../../../contexts/scim/domain/user-resource.ts';
import type { AggregateLoader } from '../../../../platform/execution/aggregate-loader.ts';
import { FailureError, notFound } from '../../../../platform/kernel/failure.ts';
import { isUuid } from '../../../../platform/kernel/ids.ts';
import { newRow } from '../../../../platform/kernel/new-row.ts';
import { scimReader, scimWriter } from '../../access.ts';
import type { ScimPrincipal } from '../../principal.ts';
import { routeWith, type AnyRoute, type HandlerContext } from '../../route.ts';
import { scimErrorView, scimRefusal } from '../../scim-errors.ts';
import {
  SCIM,
  baseOf,
  expectedVersion,
  leniencyFor,
  listQuery,
  listRequestOf,
  scimBody,
  scimCaller,
  scimId,
  scimListRefuses,
  scimPatchRefuses,
  scimWriteRefuses,
  scimPageView,
  searchParameters,
  selectionIn,
  selectionQuery,
  sendList,
  sendResource,
} from './scim-request.ts';
import { scimResource } from './scim-users.ts';

export interface ScimGroupsRouteDependencies {
  readonly lookups: Lookups;
  readonly loader: AggregateLoader;
}

const route = routeWith<ScimGroupsRouteDependencies>();
type Call = HandlerContext<unknown, unknown, unknown, ScimPrincipal, ScimGroupsRouteDependencies>;

const path = `${SCIM}/Groups`;
const refusal = scimRefusal;
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
    meta: metaOf('Group', facts),
  };
}

/** Members are read only if they are shown: a group may have tens of thousands. */
async function shown(
  { ask, request, principal, services }: Call,
  rows: readonly GroupRow[],
  selection: Selection,
): Promise<ScimComplex[]> {
  const groupIds = rows.map(({ group_id: groupId }) => groupId);
  const [base, members] = await Promise.all([
    baseOf(request, principal.tenantId, services),
    selection.hides('members') ? undefined : ask(membersOfScimGroups, { clientId: principal.clientId, groupIds }),
  ]);
  return rows.map((row) => groupResource(row, members?.get(row.group_id), base));
}

async function answer(call: Call, row: GroupRow, selection: Selection): Promise<ScimComplex | undefined> {
  const [resource] = await shown(call, [row], selection);
  return sendResource(call.request, call.reply, selection, resource!);
}

async function list(call: Call, parameters: z.output<typeof listQuery>): Promise<object> {
  const wanted = listRequestOf(parameters);
  const selection = selectionIn(groupType, parameters);
  const page = await call.ask(listScimGroups, { clientId: call.principal.clientId, ...wanted });
  const resources = (await shown(call, page.rows, selection)).map((resource) => selection.apply(resource));
  return sendList(call.reply, wanted, resources, page);
}

/** A group of another client is not found. */
async function stateOf({ services, principal }: Call, groupId: string): Promise<GroupState> {
  const state = await services.loader.load(group, groupStream(principal.tenantId, groupId));
  if (!state.exists || state.source !== 'scim' || state.sourceId !== principal.clientId)
    throw new FailureError(notFound());
  return state;
}

type Change = Omit<Parameters<typeof changeProvisionedGroup.stream>[0], 'groupId' | 'source'>;

async function change(call: Call, groupId: string, changes: Change, leniency: ReturnType<typeof leniencyFor>) {
  const { run, principal, request } = call;
  const input = { groupId, source: ownerOf(principal), ...changes };
  return (await run(changeProvisionedGroup, input, scimCaller(request, principal, leniency))).result;
}

export const scimGroupRoutes: readonly AnyRoute<ScimGroupsRouteDependencies>[] = [
  route({
    method: 'GET',
    path,
    access: scimReader,
    summary: 'List the groups of this client',
    description: 'As the list of users. `excludedAttributes=members` makes it cheap for large groups.',
    query: listQuery,
    response: scimPageView,
    refuses: [...scimListRefuses, 'scim_invalid_value'],
    refusal,
    refusalView: scimErrorView,
    handle: (call) => list(call, call.query),
  }),
  route({
    method: 'POST',
    path: `${path}/.search`,
    access: scimReader,
    summary: 'Search the groups of this client',
    operation: 'searchScimGroups',
    description: 'RFC 7644 §3.4.3: the parameters of the list in the body.',
    body: scimBody,
    response: scimPageView,
    refuses: scimListRefuses,
    refusal,
    refusalView: scimErrorView,
    handle: (call) => list(call, searchParameters(call.body)),
  }),
  route({
    method: 'POST',
    path,
    access: scimWriter,
    summary: 'Create a group',
    description:
      'The name is unique in the tenant (409 `uniqueness`). Members are users; groups in groups are not supported.',
    query: selectionQuery,
    body: scimBody,
    status: 201,
    response: scimResource,
    refuses: scimWriteRefuses,
    sends: ['ETag'],
    refusal,
    refusalView: scimErrorView,
    handle: async (call) => {
      const { principal, run, created } = call;
      const leniency = leniencyFor(principal);
      const resource = readResource(groupType, call.body, leniency);
      const input = {
        name: nameIn(resource),
        description: '',
        owner: ownerOf(principal),
        externalId: externalIdIn(resource),
        userIds: membersIn(resource),
      };
      const executed = await run(createGroup, input, scimCaller(call.request, principal, leniency));
      const { groupId } = executed.result;
      const { clientId } = principal;
      const row = await created(executed, getScimGroup, { clientId, groupId }, (events) =>
        newRow(groups, { group_id: groupId }, events),
      );
      return answer(call, row, selectionIn(groupType, call.query));
    },
  }),
  route({
    method: 'GET',
    path: `${path}/{id}`,
    access: scimReader,
    summary: 'Get a group',
    params: scimId,
    query: selectionQuery,
    response: scimResource,
    refuses: ['scim_too_many'],
    sends: ['ETag'],
    refusal,
    refusalView: scimErrorView,
    handle: async (call) => {
      const row = await call.ask(getScimGroup, { clientId: call.principal.clientId, groupId: call.params.id });
      return answer(call, row, selectionIn(groupType, call.query));
    },
  }),
  route({
    method: 'PUT',
    path: `${path}/{id}`,
    access: scimWriter,
    summary: 'Replace a group',
    description: 'Members that are left out are removed.',
    params: scimId,
    query: selectionQuery,
    body: scimBody,
    response: scimResource,
    refuses: scimWriteRefuses,
    sends: ['ETag'],
    refusal,
    refusalView: scimErrorView,
    handle: async (call) => {
      const groupId = call.params.id;
      const leniency = leniencyFor(call.principal);
      const resource = readResource(groupType, call.body, leniency);
      const { version } = await stateOf(call, groupId);
      const changes = {
        name: nameIn(resource),
        externalId: externalIdIn(resource),
        members: membersIn(resource),
        ifVersion: expectedVersion(call.request, version),
      };
      await change(call, groupId, changes, leniency);
      const row = await call.ask(getScimGroup, { clientId: call.principal.clientId, groupId });
      return answer(call, row, selectionIn(groupType, call.query));
    },
  }),
  route({
    method: 'PATCH',
    path: `${path}/{id}`,
    access: scimWriter,
    summary: 'Change a group',
    description:
      'RFC 7644 §3.5.2. All operations are carried out, or none. A group with more than 1000 members gets 204 without a body, unless `attributes` is given.',
    params: scimId,
    query: selectionQuery,
    body: scimBody,
    response: scimResource,
    refuses: scimPatchRefuses,
    sends: ['ETag'],
    refusal,
    refusalView: scimErrorView,
    handle: async (call) => {
      const groupId = call.params.id;
      const leniency = leniencyFor(call.principal);
      const operations = readPatch(groupType, call.body, leniency);
      const { name, externalId, version } = await stateOf(call, groupId);
      const before = { displayName: name, ...(externalId === null ? {} : { externalId }) };
      const described = operations.filter((operation) => !isAboutMembers(operation));
      const after = applyPatch(groupType, before, described, leniency);
      const changes = {
        ...(described.length > 0 ? { name: nameIn(after), externalId: externalIdIn(after) } : {}),
        ...memberChangeOf(operations, leniency),
        ifVersion: expectedVersion(call.request, version),
      };
      const changed = await change(call, groupId, changes, leniency);
      const selection = selectionIn(groupType, call.query);
      if (changed.total > MAX_SHOWN_AFTER_PATCH && !call.query.attributes && !selection.hides('members')) {
        call.reply.header('etag', versionTag(changed.version)).status(204);
        return undefined;
      }
      const row = await call.ask(getScimGroup, { clientId: call.principal.clientId, groupId });
      return answer(call, row, selection);
    },
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}`,
    access: scimWriter,
    summary: 'Delete a group',
    description:
      'Its members stay. A policy that was attached only to this group applies to nobody until it is changed.',
    params: scimId,
    refusal,
    refusalView: scimErrorView,
    handle: async (call) => {
      const groupId = call.params.id;
      const { version } = await stateOf(call, groupId);
      const ifVersion = expectedVersion(call.request, version);
      const { principal, request } = call;
      const caller = scimCaller(request, principal, leniencyFor(principal));
      await call.run(deleteGroup, { groupId, by: ownerOf(principal), ifVersion }, caller);
    },
  }),
];
