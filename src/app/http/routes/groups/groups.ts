import { z } from 'zod';
import { changeGroupMembers } from '../../../../../commands/groups/change-group-members.ts';
import { createGroup } from '../../../../../commands/groups/create-group.ts';
import { deleteGroup } from '../../../../../commands/groups/delete-group.ts';
import { updateGroup } from '../../../../../commands/groups/update-group.ts';
import { attachPolicy } from '../../../../../commands/policies/attach-policy.ts';
import {
  getGroup,
  groupsOfUser,
  groupView,
  listGroups,
  viewOfNewGroup,
} from '../../../../../queries/groups/group-view.ts';
import { recordsThatNameGroup } from '../../../../../queries/groups/records-that-name-group.ts';
import { groupMembersOf, groupMemberView, groupPoliciesOf } from '../../../../../queries/groups/group-details.ts';
import { policyView } from '../../../../../queries/policies/policy-view.ts';
import { FailureError, invalid, notFound } from '../../../../platform/kernel/failure.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { admin } from '../../access.ts';
import { deleteUnnamed, type DeleteUnnamedDependencies } from '../../delete-unnamed.ts';
import { route, routeWith, type AnyRoute, type RouteGroup } from '../../route.ts';
import { nameField } from '../../../../platform/kernel/name-field.ts';

const base = '/api/v1/admin/groups';
const MAX_AT_ONCE = 1_000;
const params = z.object({ groupID: uuid() });
const name = nameField();
const description = z.string().max(2_000);
const ids = z.array(uuid()).min(1).max(MAX_AT_ONCE);
const changedView = z.object({ added: z.int(), total: z.int() });

/** `{ userIds: […] }`, or one as `{ userId }` (choice OP-228). */
const someOf = (many: string, one: string) =>
  z.object({ [many]: ids.optional(), [one]: uuid().optional() }).transform((body, context): string[] => {
    const given = [
      ...((body[many] as string[] | undefined) ?? []),
      ...(body[one] === undefined ? [] : [body[one] as string]),
    ];
    if (given.length === 0) context.addIssue({ code: 'custom', path: [many], message: 'is required' });
    return given;
  });

const memberRoutes: readonly AnyRoute[] = [
  route({
    method: 'GET',
    path: `${base}/{groupID}/members`,
    access: admin('groups:read'),
    summary: 'List the members of a group',
    params,
    response: z.object({ members: z.array(groupMemberView), total: z.int() }),
    handle: ({ ask, params: { groupID: groupId } }) => ask(groupMembersOf, { groupId }),
  }),
  route({
    method: 'POST',
    path: `${base}/{groupID}/members`,
    access: admin('groups:write'),
    summary: 'Add employees to a group',
    refuses: ['group_managed'],
    description: 'Employees who are members already are ignored. At most 1,000 per request.',
    params,
    body: someOf('userIds', 'userId'),
    response: changedView,
    handle: async ({ run, body: add, params: { groupID: groupId } }) => {
      const { result } = await run(changeGroupMembers, { groupId, add, remove: [], by: null });
      return { added: result.added, total: result.total };
    },
  }),
  route({
    method: 'DELETE',
    path: `${base}/{groupID}/members/{userID}`,
    access: admin('groups:write'),
    summary: 'Remove an employee from a group',
    description: '404 if the employee is not a member.',
    params: params.extend({ userID: uuid() }),
    handle: async ({ run, params: { groupID: groupId, userID } }) => {
      const { result } = await run(changeGroupMembers, { groupId, add: [], remove: [userID], by: null });
      if (result.removed === 0) throw new FailureError(notFound());
    },
  }),
];

const policyRoutes: readonly AnyRoute[] = [
  route({
    method: 'GET',
    path: `${base}/{groupID}/policies`,
    access: admin('groups:read'),
    summary: 'List the policies that are attached to a group',
    params,
    response: z.object({ policies: z.array(policyView), total: z.int() }),
    handle: ({ ask, params: { groupID: groupId } }) => ask(groupPoliciesOf, { groupId }),
  }),
  route({
    method: 'POST',
    path: `${base}/{groupID}/policies`,
    isBulk: true,
    access: admin('groups:write'),
    summary: 'Attach policies to a group',
    description:
      'An attached policy applies only to members of its groups. Policies that are attached already are ignored. At most 1,000 per request.',
    params,
    body: someOf('policyIds', 'policyId'),
    response: changedView,
    handle: async ({ run, checkAll, ask, body, params: { groupID: groupId } }) => {
      const attachments = [...new Set(body)].map((policyId) => ({ policyId, groupId, isAttached: true }));
      await checkAll(attachPolicy, attachments);
      let added = 0;
      for (const attachment of attachments) added += (await run(attachPolicy, attachment)).result.changed ? 1 : 0;
      return { added, total: (await ask(groupPoliciesOf, { groupId })).total };
    },
  }),
  route({
    method: 'DELETE',
    path: `${base}/{groupID}/policies/{policyID}`,
    access: admin('groups:write'),
    summary: 'Detach a policy from a group',
    description: 'A policy without groups applies to all employees.',
    params: params.extend({ policyID: uuid() }),
    handle: async ({ run, params: { groupID: groupId, policyID: policyId } }) => {
      await run(attachPolicy, { policyId, groupId, isAttached: false });
    },
  }),
];

const ofUserRoutes: readonly AnyRoute[] = [
  route({
    method: 'GET',
    path: '/api/v1/admin/users/{userID}/groups',
    access: admin('employees:read'),
    summary: 'List the groups of an employee',
    params: z.object({ userID: uuid() }),
    response: z.object({ groups: z.array(groupView), total: z.int() }),
    handle: ({ ask, params: { userID: userId } }) => ask(groupsOfUser, { userId }),
  }),
  route({
    method: 'PUT',
    path: '/api/v1/admin/users/{userID}/groups',
    isBulk: true,
    access: admin('employees:write'),
    summary: 'Set the groups of an employee',
    refuses: ['group_managed'],
    description: '409 if a change affects a group that a directory manages.',
    params: z.object({ userID: uuid() }),
    body: z.object({ groupIds: z.array(uuid()).max(MAX_AT_ONCE) }),
    response: z.object({ groups: z.array(groupView), total: z.int() }),
    handle: async ({ run, checkAll, ask, body, params: { userID: userId } }) => {
      const [{ groups: now }, { groups: all }] = await Promise.all([
        ask(groupsOfUser, { userId }),
        ask(listGroups, undefined),
      ]);
      const wanted = new Set(body.groupIds);
      if ([...wanted].some((groupId) => !all.some(({ id }) => id === groupId)))
        throw new FailureError(invalid('groupIds', 'must be ids of groups'));
      const by = null;
      const changes = [
        ...[...wanted]
          .filter((groupId) => !now.some(({ id }) => id === groupId))
          .map((groupId) => ({ groupId, add: [userId], remove: [], by })),
        ...now
          .filter(({ id }) => !wanted.has(id))
          .map(({ id: groupId }) => ({ groupId, add: [], remove: [userId], by })),
      ];
      await checkAll(changeGroupMembers, changes);
      for (const change of changes) await run(changeGroupMembers, change);
      return ask(groupsOfUser, { userId });
    },
  }),
];

/** Groups of employees and their policies (choices OP-227 … OP-229, OP-068). */
export const groupRoutes: RouteGroup<DeleteUnnamedDependencies> = {
  area: 'groups',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('groups:read'),
      summary: 'List groups',
      description: 'Returns all of them, newest first.',
      response: z.object({ groups: z.array(groupView), total: z.int() }),
      handle: ({ ask }) => ask(listGroups, undefined),
    }),
    route({
      method: 'POST',
      path: base,
      access: admin('groups:write'),
      summary: 'Create a group',
      refuses: ['already_exists'],
      body: z.object({ name, description: description.default('') }),
      status: 201,
      response: groupView,
      handle: async ({ run, created, body }) => {
        const executed = await run(createGroup, { ...body, owner: null, externalId: null });
        return created(executed, getGroup, executed.result, viewOfNewGroup(executed.result.groupId));
      },
    }),
    route({
      method: 'GET',
      path: `${base}/{groupID}`,
      access: admin('groups:read'),
      summary: 'Get a group',
      params,
      response: groupView,
      handle: ({ ask, params: { groupID: groupId } }) => ask(getGroup, { groupId }),
    }),
    route({
      method: 'PUT',
      path: `${base}/{groupID}`,
      access: admin('groups:write'),
      summary: 'Change a group',
      refuses: ['already_exists'],
      description: 'Fields that are left out keep their values. 409 for the name of a group that a source owns.',
      params,
      body: z.object({ name: name.optional(), description: description.optional() }),
      response: groupView,
      handle: async ({ run, ask, body, params: { groupID: groupId } }) => {
        await run(updateGroup, { groupId, ...body });
        return ask(getGroup, { groupId });
      },
    }),
    routeWith<DeleteUnnamedDependencies>()({
      method: 'DELETE',
      path: `${base}/{groupID}`,
      access: admin('groups:write'),
      summary: 'Delete a group',
      description:
        '409 for a group that a source owns, or that a policy, a push rule or a rollout under way names: `fields` has the id of each.',
      refuses: ['group_managed', 'still_named'],
      params,
      handle: async ({ run, ask, services, principal: { tenantId }, params: { groupID: groupId } }) => {
        await ask(getGroup, { groupId });
        await deleteUnnamed(services, {
          tenantId,
          id: groupId,
          naming: () => ask(recordsThatNameGroup, { groupId }),
          remove: () => run(deleteGroup, { groupId, by: null }),
        });
      },
    }),
    ...memberRoutes,
    ...policyRoutes,
    ...ofUserRoutes,
  ],
};
