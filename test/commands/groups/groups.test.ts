import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { changeGroupMembers } from '../../../commands/groups/change-group-members.ts';
import { changeProvisionedGroup } from '../../../commands/groups/change-provisioned-group.ts';
import { createGroup } from '../../../commands/groups/create-group.ts';
import { deleteGroup } from '../../../commands/groups/delete-group.ts';
import { reclaimGroup } from '../../../commands/groups/reclaim-group.ts';
import { releaseGroup } from '../../../commands/groups/release-group.ts';
import { updateGroup } from '../../../commands/groups/update-group.ts';
import type { GroupEvent } from '../../../src/contexts/groups/domain/events.ts';
import { MemberSet } from '../../../src/contexts/groups/domain/member-set.ts';
import { context, given } from '../../dsl/given.ts';

const GROUP = context().id;
const okta = { kind: 'scim', id: '66666666-6666-4666-8666-666666666661' } as const;
const ldap = { kind: 'directory', id: '66666666-6666-4666-8666-666666666663' } as const;
const [ann, bob, cy] = [randomUUID(), randomUUID(), randomUUID()] as const;
const known = { areKnown: true };
const described = { groupId: GROUP, name: 'Staff', description: '', externalId: 'g-1' };
const created: GroupEvent = { type: 'GroupCreated', data: { ...described, source: 'scim', sourceId: okta.id } };
const added = (...userIds: string[]): GroupEvent => ({ type: 'GroupMembersAdded', data: { groupId: GROUP, userIds } });
const removed = (...userIds: string[]): GroupEvent => ({
  type: 'GroupMembersRemoved',
  data: { groupId: GROUP, userIds },
});
const name = (value: string) => ({ kind: 'group-name', value });
const externalId = (value: string) => ({ kind: 'group-external-id', value: `scim|${okta.id}|${value}` });

describe('a group of a source', () => {
  it('is created with its members and unique names', () => {
    const outcome = given().when(
      createGroup,
      { name: 'Staff', description: '', owner: okta, externalId: 'g-1', userIds: [ann, bob, ann] },
      known,
    );
    outcome.then(created, added(ann, bob));
    outcome.thenTakes(name('staff'), externalId('g-1'));
    expect(outcome.result()).toEqual({ groupId: GROUP, version: 2 });
  });

  it('is changed by its source at once or not at all', () => {
    const outcome = given(created, added(ann, bob)).when(
      changeProvisionedGroup,
      { groupId: GROUP, source: okta, name: 'Crew', externalId: 'g-2', add: [cy], remove: [ann], ifVersion: 2 },
      known,
    );
    outcome.then(
      { type: 'GroupUpdated', data: { ...described, name: 'Crew', externalId: 'g-2' } },
      added(cy),
      removed(ann),
    );
    outcome.thenTakes(name('crew'), externalId('g-2'));
    outcome.thenReleases(name('staff'), externalId('g-1'));
    expect(outcome.result()).toEqual({ version: 5, changed: true, added: 1, removed: 1, total: 2 });
  });

  it('gets a complete new membership', () => {
    given(created, added(ann, bob))
      .when(changeProvisionedGroup, { groupId: GROUP, source: okta, members: [bob, cy] }, known)
      .then(added(cy), removed(ann));
    const same = given(created, added(ann)).when(
      changeProvisionedGroup,
      { groupId: GROUP, source: okta, members: [ann], name: 'Staff' },
      known,
    );
    same.thenNothing();
    expect(same.result()).toMatchObject({ changed: false, version: 2 });
  });

  it('is changed at its version only, and with employees only', () => {
    given(created)
      .when(changeProvisionedGroup, { groupId: GROUP, source: okta, name: 'x', ifVersion: 2 }, known)
      .thenRefused('stale');
    given(created)
      .when(changeProvisionedGroup, { groupId: GROUP, source: okta, add: [ann] }, { areKnown: false })
      .thenRefused('invalid');
  });

  it('belongs to that source alone', () => {
    const managed = `the group is managed by SCIM client ${okta.id}`;
    const by = { groupId: GROUP, source: ldap };
    given(created)
      .when(changeProvisionedGroup, { ...by, name: 'x' }, known)
      .thenRefused('conflict', managed);
    given(created)
      .when(changeGroupMembers, { groupId: GROUP, add: [ann], remove: [], by: null }, known)
      .thenRefused('conflict', managed);
    given(created).when(updateGroup, { groupId: GROUP, name: 'x' }).thenRefused('conflict', managed);
    given(created).when(updateGroup, { groupId: GROUP, description: 'ours' }).thenTypes('GroupUpdated');
    given(created).when(deleteGroup, { groupId: GROUP, by: null }).thenRefused('conflict', managed);
    given(created).when(deleteGroup, { groupId: GROUP, by: ldap }).thenRefused('conflict', managed);
    const gone = given(created).when(deleteGroup, { groupId: GROUP, by: okta });
    gone.thenTypes('GroupDeleted');
    gone.thenReleases(name('staff'), externalId('g-1'));
  });

  it('belongs to administrators once it is released', () => {
    const released = given(created).when(releaseGroup, { groupId: GROUP, by: okta });
    released.thenTypes('GroupReleased');
    released.thenReleases(externalId('g-1'));
    const free: GroupEvent = { type: 'GroupReleased', data: { groupId: GROUP } };
    given(created, free).when(updateGroup, { groupId: GROUP, name: 'x' }).thenTypes('GroupUpdated');
    given(created, free)
      .when(changeProvisionedGroup, { groupId: GROUP, source: okta, name: 'x' }, known)
      .thenRefused('conflict', 'the group is managed by administrators');
  });

  it('go back to the source that released them, and to no other', () => {
    const free: GroupEvent = { type: 'GroupReleased', data: { groupId: GROUP } };
    const reclaimed = given(created, free).when(reclaimGroup, { groupId: GROUP, owner: okta });
    reclaimed.then({ type: 'GroupReclaimed', data: { groupId: GROUP, source: 'scim', sourceId: okta.id } });
    reclaimed.thenTakes(externalId('g-1'));
    for (const owner of [ldap, { ...okta, id: ldap.id }])
      given(created, free).when(reclaimGroup, { groupId: GROUP, owner }).thenRefused('conflict');
    given(created).when(reclaimGroup, { groupId: GROUP, owner: okta }).thenRefused('conflict');
    const again: GroupEvent = {
      type: 'GroupReclaimed',
      data: { groupId: GROUP, source: 'scim', sourceId: okta.id },
    };
    given(created, free, again)
      .when(changeProvisionedGroup, { groupId: GROUP, source: okta, name: 'x' }, known)
      .thenTypes('GroupUpdated');
    given(created, free, again).when(releaseGroup, { groupId: GROUP, by: okta }).thenReleases(externalId('g-1'));
  });
});

describe('the members of a large group', () => {
  it('are written in several events', () => {
    const userIds = Array.from({ length: 2_500 }, () => randomUUID());
    given()
      .when(createGroup, { name: 'Staff', description: '', owner: okta, externalId: null, userIds }, known)
      .thenTypes('GroupCreated', 'GroupMembersAdded', 'GroupMembersAdded', 'GroupMembersAdded');
  });

  it('are a set that later changes leave alone', () => {
    const ids = Array.from({ length: 1_000 }, () => randomUUID());
    const all = MemberSet.empty.with(ids);
    const fewer = all.without([...ids.slice(0, 400), randomUUID()]);
    expect([all.size, fewer.size]).toEqual([1_000, 600]);
    expect(new Set(all)).toEqual(new Set(ids));
    expect(new Set(fewer)).toEqual(new Set(ids.slice(400)));
    expect([all.has(ids[0]!), fewer.has(ids[0]!), fewer.has(ids[999]!)]).toEqual([true, false, true]);
    expect(fewer.with(ids).size).toBe(1_000);
    expect(fewer.without(ids).size).toBe(0);
    expect(all.with([ids[0]!])).toBe(all);
  });
});
