import type { DirectoryMembership, ReadGroups, WithheldGroup } from './domain/directory-reader.ts';
import type { PlannedGroup } from './domain/group-plan.ts';
import type { MemberDigest } from './domain/member-digest.ts';
import { ADD_MEMBERS, MEMBERS, MEMBERSHIPS, PLANNED_GROUPS, READ_GROUPS } from './staging-sql.ts';
import { SyncHold } from './sync-hold.ts';

type NamesById = readonly (readonly [string, string])[];
interface ReadInPart {
  readonly groups: NamesById;
  readonly withheld: readonly WithheldGroup[];
}

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

  keepGroups({ selected, withheld }: ReadGroups): Promise<void> {
    const groups = [...selected];
    const isWhole = withheld.length === 0;
    const kept = isWhole ? [JSON.stringify(groups), null] : [null, JSON.stringify({ groups, withheld })];
    return this.write(async (client) => {
      await this.query(client, READ_GROUPS, kept);
    });
  }

  /** Undefined: no reading has got that far. */
  async readGroups(): Promise<ReadGroups | undefined> {
    const { rows } = await this.statement<{ groups: NamesById | null; part: ReadInPart | null }>(
      'select read_groups as groups, read_in_part as part from directory_sync_runs where tenant_id = $1 and sync_id = $2',
    );
    const { groups, withheld } = rows[0]?.part ?? { groups: rows[0]?.groups, withheld: [] };
    return groups ? { selected: new Map(groups), withheld } : undefined;
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
