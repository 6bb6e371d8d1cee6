import { changeProvisionedGroup } from '../../../commands/groups/change-provisioned-group.ts';
import { createGroup } from '../../../commands/groups/create-group.ts';
import { releaseGroup } from '../../../commands/groups/release-group.ts';
import { groupsOfSource } from '../../../queries/groups/groups-of-source.ts';
import { derivedId } from '../../platform/execution/derived-id.ts';
import { FailureError, isFailure, orThrow } from '../../platform/kernel/failure.ts';
import { inParallel } from '../../platform/kernel/in-parallel.ts';
import { MAX_DIRECTORY_GROUPS, type DirectoryReader } from './domain/directory-reader.ts';
import type { MemberDigest, Staging } from './staging.ts';
import type { SyncPorts, SyncRun } from './sync-ports.ts';

const AT_ONCE = 8;
const FRESH_MS = 30_000;
const NO_MEMBERS: MemberDigest = { members: 0, digest: '0' };

export interface SyncedGroups {
  readonly groups: number;
  readonly memberships: number;
}

/** Names of the selected groups that the directory still has. */
export async function selectedGroups(
  reader: DirectoryReader,
  groupIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (groupIds.length === 0) return new Map();
  const selected = new Set(groupIds);
  const { groups } = await reader.groups(MAX_DIRECTORY_GROUPS);
  return new Map(groups.filter(({ externalId }) => selected.has(externalId)).map((one) => [one.externalId, one.name]));
}

/**
 * Makes the groups of the source those that are selected, with exactly the members that were read. A group that is no
 * longer selected, or no longer at the directory, is handed over to administrators: policies may refer to it.
 */
export async function syncGroups(
  ports: SyncPorts,
  run: SyncRun,
  staging: Staging,
  selected: ReadonlyMap<string, string>,
): Promise<SyncedGroups> {
  const { executor, freshness, head, reads } = ports;
  const owner = { kind: 'directory', id: run.sourceId } as const;
  await freshness.waitFor(['groups', 'group_members'], await head(), FRESH_MS);
  const present = orThrow(await groupsOfSource(reads(run.tenantId), { source: owner }));
  const byExternalId = new Map(present.map((one) => [one.externalId, one]));
  const read = await staging.memberships();
  let groups = 0;
  let memberships = 0;
  await inParallel(AT_ONCE, [...selected], async ([externalId, name]) => {
    run.signal.throwIfAborted();
    const known = byExternalId.get(externalId);
    const wanted = read.get(externalId) ?? NO_MEMBERS;
    if (known?.name === name && known.members === wanted.members && known.digest === wanted.digest) {
      groups += 1;
      memberships += wanted.members;
      return;
    }
    const userIds = await staging.membersOf(externalId);
    const isWritten = known
      ? await written(() =>
          executor.execute(
            changeProvisionedGroup,
            { groupId: known.groupId, source: owner, name, members: userIds },
            run.execution,
          ),
        )
      : await created(ports, run, externalId, name, userIds);
    if (!isWritten) return;
    groups += 1;
    memberships += userIds.length;
  });
  for (const { groupId, externalId } of present)
    if (externalId === null || !selected.has(externalId))
      await written(() => executor.execute(releaseGroup, { groupId, by: owner }, run.execution));
  return { groups, memberships };
}

/** A name that another group has gets the id of the source's group behind it. */
async function created(
  { executor }: SyncPorts,
  run: SyncRun,
  externalId: string,
  name: string,
  userIds: readonly string[],
): Promise<boolean> {
  const owner = { kind: 'directory', id: run.sourceId } as const;
  const execution = { ...run.execution, commandId: derivedId('directory group', run.syncId, externalId) };
  for (const chosen of [name, `${name.slice(0, 150)} (${externalId.slice(0, 40)})`]) {
    const input = { name: chosen, description: '', owner, externalId, userIds };
    if (await written(() => executor.execute(createGroup, input, execution))) return true;
  }
  return false;
}

/** Whether the change was made or not needed. Throws if the store is away. */
async function written(change: () => Promise<object>): Promise<boolean> {
  const outcome = await change();
  if (!isFailure(outcome)) return true;
  if (outcome.kind === 'unavailable') throw new FailureError(outcome);
  return false;
}
