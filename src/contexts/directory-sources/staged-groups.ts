import type { DirectoryMembership } from './domain/directory-reader.ts';
import type { PlannedGroup } from './domain/group-plan.ts';
import type { MemberDigest } from './domain/member-digest.ts';
import { ADD_MEMBERS, MEMBERS, MEMBERSHIPS, PLANNED_GROUPS, READ_GROUPS } from './staging-sql.ts';
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

  /** The selected groups that the directory has. */
  keepGroups(groups: ReadonlyMap<string, string>): Promise<void> {
    return this.write(async (client) => {
      await this.query(client, READ_GROUPS, [JSON.stringify([...groups])]);
    });
  }

  /** Undefined: no reading has got that far. */
  async readGroups(): Promise<ReadonlyMap<string, string> | undefined> {
    const { rows } = await this.statement<{ groups: [string, string][] | null }>(
      'select read_groups as groups from directory_sync_runs where tenant_id = $1 and sync_id = $2',
    );
    return rows[0]?.groups ? new Map(rows[0].groups) : undefined;
  }

  /** What the plan says of the groups, for whoever looks at it. */
  showGroups(groups: readonly PlannedGroup[]): Promise<void> {
    return this.write(async (client) => {
      await this.query(client, PLANNED_GROUPS, [JSON.stringify(groups)]);
    });
  }

  /** Employees who are members of this group, with their external ids, those whom the plan kept included. */
  async membersOf(groupId: string): Promise<ReadonlyMap<string, string>> {
    const { rows } = await this.statement<{ user_id: string; external_id: string }>(MEMBERS, [groupId]);
    return new Map(rows.map((row) => [row.user_id, row.external_id]));
  }

  /** How many members each group has, and a sum that two sets of employees have in common only if they are the same. */
  async memberships(): Promise<ReadonlyMap<string, MemberDigest>> {
    const { rows } = await this.statement<MemberDigest & { group_id: string }>(MEMBERSHIPS);
    return new Map(rows.map((row) => [row.group_id, row]));
  }
}
