import type { DirectoryMembership } from './domain/directory-reader.ts';
import type { PlannedGroup } from './domain/group-plan.ts';
import type { MemberDigest } from './domain/member-digest.ts';
import { ADD_MEMBERS, MEMBERS, MEMBERSHIPS, PLANNED_GROUPS } from './staging-sql.ts';
import { SyncHold } from './sync-hold.ts';

/** What one synchronization has read and planned about the selected groups. */
export class StagedGroups extends SyncHold {
  addMembers(members: readonly DirectoryMembership[]): Promise<void> {
    return this.write(async (client) => {
      await this.query(client, ADD_MEMBERS, [
        members.map(({ groupId }) => groupId),
        members.map(({ memberKey }) => memberKey),
      ]);
    });
  }

  /** What the plan says of the groups, for whoever looks at it. */
  showGroups(groups: readonly PlannedGroup[]): Promise<void> {
    return this.write(async (client) => {
      await this.query(client, PLANNED_GROUPS, [JSON.stringify(groups)]);
    });
  }

  /** Employees who are members of this group, those whom the plan kept included. */
  async membersOf(groupId: string): Promise<readonly string[]> {
    const { rows } = await this.statement<{ user_id: string }>(MEMBERS, [groupId]);
    return rows.map((row) => row.user_id);
  }

  /** How many members each group has, and a sum that two sets of employees have in common only if they are the same. */
  async memberships(): Promise<ReadonlyMap<string, MemberDigest>> {
    const { rows } = await this.statement<MemberDigest & { group_id: string }>(MEMBERSHIPS);
    return new Map(rows.map((row) => [row.group_id, row]));
  }
}
