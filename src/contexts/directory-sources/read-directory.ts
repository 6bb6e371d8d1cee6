import {
  DirectoryFailed,
  MAX_MEMBERSHIPS,
  MAX_PEOPLE,
  type DirectoryReader,
  type Listed,
} from './domain/directory-reader.ts';
import type { Staging } from './staging.ts';

/** Reads a whole directory into the staging tables, a page at a time. Throws unless it has seen the end. */
export async function readDirectory(
  reader: DirectoryReader,
  groupIds: readonly string[],
  staging: Staging,
  signal: AbortSignal,
): Promise<number> {
  let people = 0;
  await eachPage(reader.people(), signal, async (items) => {
    people += items.length;
    if (people > MAX_PEOPLE) throw new DirectoryFailed('the directory lists too many people', { isLasting: true });
    await staging.addPeople(items, people);
  });
  let memberships = 0;
  if (groupIds.length > 0)
    await eachPage(reader.memberships(groupIds), signal, async (items) => {
      memberships += items.length;
      if (memberships > MAX_MEMBERSHIPS) throw new DirectoryFailed('the directory lists too many members');
      await staging.addMembers(items);
    });
  return people;
}

async function eachPage<Item>(
  listing: AsyncIterable<Listed<Item>>,
  signal: AbortSignal,
  work: (items: readonly Item[]) => Promise<void>,
): Promise<void> {
  for await (const step of listing) {
    if (step.kind === 'complete') return;
    signal.throwIfAborted();
    await work(step.items);
  }
  throw new DirectoryFailed('the directory ended its list early');
}
