import { changeProvisionedGroup } from '../../../commands/groups/change-provisioned-group.ts';
import type { ExternalIds } from '../../../commands/groups/group-members.ts';
import { createGroup } from '../../../commands/groups/create-group.ts';
import { reclaimGroup } from '../../../commands/groups/reclaim-group.ts';
import { releaseGroup } from '../../../commands/groups/release-group.ts';
import { groupsOfSource, releasedGroupsOf, type GroupOfSource } from '../../../queries/groups/groups-of-source.ts';
import { derivedId } from '../../platform/execution/derived-id.ts';
import { FailureError, isFailure, orThrow, type Failure } from '../../platform/kernel/failure.ts';
import type { TenantReads } from '../../platform/kernel/query.ts';
import { inParallel } from '../../platform/kernel/in-parallel.ts';
import type { ReadGroups, WithheldGroup } from './domain/directory-reader.ts';
import { NO_MEMBERS } from './domain/member-digest.ts';
import type { Staging } from './staging.ts';
import type { SyncPorts, SyncRun } from './sync-ports.ts';

const AT_ONCE = 8;
const FRESH_MS = 30_000;

export interface SyncedGroups {
  readonly groups: number;
  readonly memberships: number;
  /** Why a group does not follow the directory, in fixed words; undefined if all do. */
  readonly refusal: string | undefined;
}

/**
 * Makes the groups of the source those that are selected, with exactly the members that were read. A group that is no
 * longer selected, or no longer at the directory, is handed over to administrators: policies may refer to it. If it
 * returns, it is the same group again. A group that the directory withholds stays as it is.
 */
export async function syncGroups(
  ports: SyncPorts,
  run: SyncRun,
  staging: Staging,
  { selected, withheld }: ReadGroups,
): Promise<SyncedGroups> {
  const { executor, freshness, head, reads } = ports;
  const owner = { kind: 'directory', id: run.sourceId } as const;
  await freshness.waitFor(['groups', 'group_members'], await head(), FRESH_MS);
  const present = withoutWithheld(orThrow(await groupsOfSource(reads(run.tenantId), { source: owner })), withheld);
  const reclaimed = await reclaimedGroups(ports, run, present, selected);
  const byExternalId = new Map([...present, ...reclaimed].map((one) => [one.externalId, one]));
  const read = await staging.memberships();
  const synced = { groups: 0, memberships: 0, refusal: undefined as string | undefined };
  await inParallel(AT_ONCE, [...selected], async ([externalId, name]) => {
    run.signal.throwIfAborted();
    const known = byExternalId.get(externalId);
    const wanted = read.get(externalId) ?? NO_MEMBERS;
    const isFilled = known?.members === wanted.members && known.digest === wanted.digest;
    const members = isFilled ? undefined : await staging.membersOf(externalId);
    const refused = known
      ? await changed(ports, run, known, name, members)
      : await created(ports, run, externalId, name, members);
    if (refused) return void (synced.refusal ??= `a group was refused: ${refused.message}`);
    synced.groups += 1;
    synced.memberships += wanted.members;
  });
  for (const { groupId, externalId } of present)
    if (externalId === null || !selected.has(externalId))
      await refusalOf(executor.execute(releaseGroup, { groupId, by: owner }, run.execution));
  return synced;
}

/** The groups that a synchronization may change or release. */
export function withoutWithheld(
  present: readonly GroupOfSource[],
  withheld: readonly WithheldGroup[],
): readonly GroupOfSource[] {
  const ids = new Set(withheld.map(({ externalId }) => externalId));
  return present.filter(({ externalId }) => externalId === null || !ids.has(externalId));
}

/** Groups that the source released before, and that are selected and there again: they keep their policies. */
async function reclaimedGroups(
  { executor, reads }: SyncPorts,
  run: SyncRun,
  present: readonly GroupOfSource[],
  selected: ReadonlyMap<string, string>,
): Promise<readonly GroupOfSource[]> {
  const released = await releasedAmong(reads(run.tenantId), run, present, selected);
  const owner = { kind: 'directory', id: run.sourceId } as const;
  const reclaimed: GroupOfSource[] = [];
  for (const group of released)
    if (!(await refusalOf(executor.execute(reclaimGroup, { groupId: group.groupId, owner }, run.execution))))
      reclaimed.push(group);
  return reclaimed;
}

/** The selected groups that the source does not own now, and did before. */
export async function releasedAmong(
  reads: TenantReads,
  { sourceId }: Pick<SyncRun, 'sourceId'>,
  present: readonly GroupOfSource[],
  selected: ReadonlyMap<string, string>,
): Promise<readonly GroupOfSource[]> {
  const owned = new Set(present.map(({ externalId }) => externalId));
  const externalIds = [...selected.keys()].filter((externalId) => !owned.has(externalId));
  return externalIds.length === 0 ? [] : orThrow(await releasedGroupsOf(reads, { sourceId, externalIds }));
}

/** Names to try: the group's own, then with its id behind it, then with that of its source, too. */
const namesFor = ({ sourceId }: SyncRun, externalId: string, name: string): readonly string[] => [
  name,
  `${name.slice(0, 150)} (${externalId.slice(0, 40)})`,
  `${name.slice(0, 140)} (${externalId.slice(0, 40)}, ${sourceId.slice(0, 8)})`,
];

/** `members`: undefined if they are the members already. Members follow the directory whatever becomes of the name. */
async function changed(
  { executor }: SyncPorts,
  run: SyncRun,
  { groupId, externalId, name: present }: GroupOfSource,
  name: string,
  members: ExternalIds | undefined,
): Promise<Failure | undefined> {
  const group = { groupId, source: { kind: 'directory', id: run.sourceId } } as const;
  for (const chosen of namesFor(run, externalId!, name)) {
    if (chosen === present) break;
    if (!(await refusalOf(executor.execute(changeProvisionedGroup, { ...group, name: chosen }, run.execution)))) break;
  }
  if (!members) return undefined;
  const complete = { ...group, members: [...members.keys()], externalIds: members };
  return refusalOf(executor.execute(changeProvisionedGroup, complete, run.execution));
}

async function created(
  { executor }: SyncPorts,
  run: SyncRun,
  externalId: string,
  name: string,
  externalIds: ExternalIds = new Map(),
): Promise<Failure | undefined> {
  const owner = { kind: 'directory', id: run.sourceId } as const;
  const execution = { ...run.execution, commandId: derivedId('directory group', run.syncId, externalId) };
  let refused: Failure | undefined;
  for (const chosen of namesFor(run, externalId, name)) {
    const input = { name: chosen, description: '', owner, externalId, userIds: [...externalIds.keys()], externalIds };
    refused = await refusalOf(executor.execute(createGroup, input, execution));
    if (!refused) return undefined;
  }
  return refused;
}

/** Undefined: the change was made or not needed. Throws if the store is away. */
async function refusalOf(change: Promise<object>): Promise<Failure | undefined> {
  const outcome = await change;
  if (!isFailure(outcome)) return undefined;
  if (outcome.kind === 'unavailable') throw new FailureError(outcome);
  return outcome;
}
