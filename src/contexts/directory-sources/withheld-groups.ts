import {
  DirectoryForbids,
  listedPage,
  type DirectoryGroup,
  type DirectoryMembership,
  DirectoryFailed,
  type ListedMembers,
  type NamedGroups,
  type WithheldGroup,
} from './domain/directory-reader.ts';
import { inParallel } from '../../platform/kernel/in-parallel.ts';

/** Look-ups of single groups at the same time. */
const GROUPS_AT_ONCE = 4;

/** Each group is asked for by its id: a list may be cut short, and would not say so. */
export async function namesByAsking(
  groupIds: readonly string[],
  find: (groupId: string) => Promise<DirectoryGroup | undefined>,
): Promise<NamedGroups> {
  const names = new Map<string, string>();
  const withheld: WithheldGroup[] = [];
  await inParallel(GROUPS_AT_ONCE, groupIds, async (groupId) => {
    try {
      const group = await find(groupId);
      if (group) names.set(groupId, group.name);
    } catch (error) {
      if (error instanceof DirectoryForbids)
        return void withheld.push({ externalId: groupId, name: null, reason: error.message });
      if (!(error instanceof DirectoryFailed)) throw error;
      const { message, isLasting } = error;
      throw new DirectoryFailed(`${message}, for the group ${groupId}`, { isLasting, cause: error });
    }
  });
  return { names, withheld };
}

/** The members of one group, or that the directory forbids to read them. What was listed before it said so does not count. */
export async function* membersUnlessWithheld(
  groupId: string,
  pages: AsyncIterable<readonly DirectoryMembership[]>,
): AsyncGenerator<ListedMembers> {
  try {
    for await (const items of pages) yield listedPage(items);
  } catch (error) {
    if (!(error instanceof DirectoryForbids)) throw error;
    yield { kind: 'withheld', groupId, reason: error.message };
  }
}

/** In fixed words, with the id of a group that an administrator chose; null if all groups could be read. */
export function withheldReason(withheld: readonly WithheldGroup[]): string | null {
  const [first] = withheld.toSorted((a, b) => (a.externalId < b.externalId ? -1 : 1));
  if (!first) return null;
  const what = withheld.length === 1 ? 'a group' : `${withheld.length} groups`;
  const which = withheld.length === 1 ? '' : ', the first one';
  return `${what} could not be read${which}: ${first.reason}, for the group ${first.externalId}`;
}
