import { NO_MEMBERS, type MemberDigest } from './member-digest.ts';

/** What a synchronization does with one group. A released one is handed over to administrators, as it is. */
export const plannedGroupActions = ['create', 'change', 'release', 'keep'] as const;

/** A group that the source owns now. */
export interface OwnedGroup extends MemberDigest {
  readonly groupId: string;
  readonly externalId: string | null;
  readonly name: string;
}

export interface PlannedGroup {
  readonly externalId: string | null;
  /** Null for a group that is still to be created. */
  readonly groupId: string | null;
  readonly name: string;
  readonly action: (typeof plannedGroupActions)[number];
  /** Members now, and afterwards. */
  readonly membersBefore: number;
  readonly members: number;
}

/** What changes comes before what stays as it is. Pure. */
export function groupPlan(
  present: readonly OwnedGroup[],
  selected: ReadonlyMap<string, string>,
  wanted: ReadonlyMap<string, MemberDigest>,
): readonly PlannedGroup[] {
  const known = new Map(present.map((group) => [group.externalId, group]));
  const followed = [...selected].map(([externalId, name]) =>
    plannedGroup(externalId, name, known.get(externalId), wanted.get(externalId) ?? NO_MEMBERS),
  );
  const released = present
    .filter(({ externalId }) => externalId === null || !selected.has(externalId))
    .map(({ externalId, groupId, name, members }) => ({
      externalId,
      groupId,
      name,
      members,
      action: 'release' as const,
      membersBefore: members,
    }));
  const place = ({ action }: PlannedGroup) => plannedGroupActions.indexOf(action);
  return [...followed, ...released].toSorted((a, b) => place(a) - place(b));
}

function plannedGroup(
  externalId: string,
  name: string,
  known: OwnedGroup | undefined,
  { members, digest }: MemberDigest,
): PlannedGroup {
  if (!known) return { externalId, groupId: null, name, action: 'create', membersBefore: 0, members };
  const isKept = known.name === name && known.members === members && known.digest === digest;
  const { groupId, members: membersBefore } = known;
  return { externalId, groupId, name, action: isKept ? 'keep' : 'change', membersBefore, members };
}
