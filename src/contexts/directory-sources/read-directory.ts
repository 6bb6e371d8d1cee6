import {
  DirectoryFailed,
  MAX_MEMBERSHIPS,
  MAX_PEOPLE,
  listedPage,
  type Corrections,
  type DirectoryPerson,
  type DirectoryReader,
  type Listed,
} from './domain/directory-reader.ts';
import type { DecidedPerson, Staging } from './staging.ts';

export interface Reading {
  readonly reader: DirectoryReader;
  /** The selected groups, once people have been read: that a group is gone counts only where people are found. */
  selected(): Promise<ReadonlyMap<string, string>>;
  readonly staging: Staging;
  readonly signal: AbortSignal;
  /** What follows from a page for people of whom that can be said at once, by external id. */
  decided(people: readonly DirectoryPerson[]): Promise<ReadonlyMap<string, DecidedPerson>>;
}

/**
 * Reads a whole directory into the staging tables, a page at a time. Throws unless it has seen the end. Returns how many
 * people it lists, and the selected groups that it has.
 */
export async function readDirectory({
  reader,
  selected,
  staging,
  signal,
  decided,
}: Reading): Promise<{ readonly people: number; readonly groups: ReadonlyMap<string, string> }> {
  let people = 0;
  await eachPage(reader.people(), signal, async (items, corrections) => {
    people += items.length;
    if (people > MAX_PEOPLE) throw new DirectoryFailed('the directory lists too many people', { isLasting: true });
    const { isNews } = await staging.addPeople(items, await decided(items), people);
    if (corrections) await staging.removePeople(corrections.gone);
    // The list goes round in circles, and its end is not the end.
    else if (!isNews) throw new DirectoryFailed('the directory repeats a page');
  });
  const groups = await selected();
  await staging.keepGroups(groups);
  let memberships = 0;
  if (groups.size > 0)
    await eachPage(inLargerPages(reader.memberships([...groups.keys()]), MEMBERS_AT_ONCE), signal, async (items) => {
      memberships += items.length;
      if (memberships > MAX_MEMBERSHIPS) throw new DirectoryFailed('the directory lists too many members');
      await staging.addMembers(items);
    });
  await staging.analyze();
  return { people, groups };
}

/** Groups are small, and each write waits for the disk. */
const MEMBERS_AT_ONCE = 2_000;

/** The same list in pages of at least this many items, the last one excepted. */
async function* inLargerPages<Item>(listing: AsyncIterable<Listed<Item>>, size: number): AsyncGenerator<Listed<Item>> {
  let waiting: Item[] = [];
  for await (const step of listing) {
    if (step.kind === 'page') waiting.push(...step.items);
    if (waiting.length >= size || (step.kind === 'complete' && waiting.length > 0)) {
      yield listedPage(waiting);
      waiting = [];
    }
    if (step.kind === 'complete') yield step;
  }
}

async function eachPage<Item>(
  listing: AsyncIterable<Listed<Item>>,
  signal: AbortSignal,
  work: (items: readonly Item[], corrections: Corrections | undefined) => Promise<void>,
): Promise<void> {
  // The next page is read while this one is written.
  let written = Promise.resolve();
  try {
    for await (const step of listing) {
      await written;
      if (step.kind === 'complete') return;
      signal.throwIfAborted();
      written = work(step.items, step.corrections);
      written.catch(() => undefined); // reported with the next page
    }
    await written;
  } finally {
    await written.catch(() => undefined);
  }
  throw new DirectoryFailed('the directory ended its list early');
}
