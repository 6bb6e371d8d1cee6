import { groupsOfSource } from '../../../queries/groups/groups-of-source.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import type { ReadGroups } from './domain/directory-reader.ts';
import type { SyncCounts } from './domain/events.ts';
import { groupPlan } from './domain/group-plan.ts';
import type { Staging } from './staging.ts';
import { releasedAmong, withoutWithheld } from './sync-groups.ts';
import type { SyncPorts, SyncRun } from './sync-ports.ts';

const FRESH_MS = 30_000;

/** Groups of a plan that a response lists. */
const LISTED = 100;

/** What `syncGroups` would do with the groups of the source. Writes it down for `syncDetails`, and counts it. */
export async function planGroups(
  { reads, freshness, head }: SyncPorts,
  run: SyncRun,
  staging: Staging,
  { selected, withheld }: ReadGroups,
): Promise<Pick<SyncCounts, 'groups' | 'memberships'>> {
  const owner = { kind: 'directory', id: run.sourceId } as const;
  await freshness.waitFor(['groups', 'group_members'], await head(), FRESH_MS);
  const present = withoutWithheld(orThrow(await groupsOfSource(reads(run.tenantId), { source: owner })), withheld);
  const released = await releasedAmong(reads(run.tenantId), run, present, selected);
  // Nothing equals this sum: whoever is taken back changes.
  const reclaimed = released.map((group) => ({ ...group, digest: '' }));
  const wanted = await staging.memberships();
  const planned = groupPlan([...present, ...reclaimed], selected, wanted);
  await staging.showGroups(planned.slice(0, LISTED));
  const followed = planned.filter(({ action }) => action !== 'release');
  return { groups: followed.length, memberships: followed.reduce((sum, { members }) => sum + members, 0) };
}
