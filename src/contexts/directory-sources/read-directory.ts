import {
  DirectoryFailed,
  MAX_MEMBERSHIPS,
  MAX_PEOPLE,
  type Corrections,
  type DirectoryMembership,
  type DirectoryPerson,
  type DirectoryReader,
  type Listed,
  type ListedMembers,
  type NamedGroups,
  type ReadGroups,
} from './domain/directory-reader.ts';
import type { DecidedPerson, Staging } from './staging.ts';

export interface Reading {
  readonly reader: DirectoryReader;
  /** The selected groups, once people have been read: that a group is gone counts only where people are found. */
  selected(): Promise<NamedGroups>;
  readonly staging: Staging;
  readonly signal: AbortSignal;
  /** What follows from a page for people of whom that can be said at once, by external id. */
  decided(people: readonly DirectoryPerson[]): Promise<ReadonlyMap<string, DecidedPerson>>;
}

/**
 * Reads a whole directory into the staging tables, a page at a time. Throws unless it has seen the end. Returns how many
 * people it lists, and what it says of the selected groups.
 */
export async function readDirectory({
  reader,
  selected,
  staging,
  signal,
  decided,
}: Reading): Promise<{ readonly people: number; readonly groups: ReadGroups }> {
  let people = 0;
  await eachBatch(inBatches(reader.people(), PEOPLE_AT_ONCE, signal), signal, {
    prepare: async ({ pages }) => {
      const items = pages.flat();
      return { items, steps: await decided(items) };
    },
    write: async ({ pages, corrections }, { items, steps }) => {
      people += items.length;
      if (people > MAX_PEOPLE) throw new DirectoryFailed('the directory lists too many people', { isLasting: true });
      const listedBefore = await staging.addPeople(items, steps, people);
      if (corrections) await staging.removePeople(corrections.gone);
      // The list goes round in circles, and its end is not the end.
      else if (repeatsPage(pages, listedBefore)) throw new DirectoryFailed('the directory repeats a page');
    },
  });
  const named = await selected();
  const withheld = [...named.withheld];
  const readable = new Map(named.names);
  const leaveOut = ({ groupId, reason }: { readonly groupId: string; readonly reason: string }) => {
    withheld.push({ externalId: groupId, name: named.names.get(groupId) ?? null, reason });
    readable.delete(groupId);
  };
  let memberships = 0;
  if (named.names.size > 0)
    await eachBatch(
      inBatches(unlessWithheld(reader.memberships([...named.names.keys()]), leaveOut), MEMBERS_AT_ONCE, signal),
      signal,
      {
        prepare: ({ pages }) => Promise.resolve(pages.flat()),
        write: async (_, items) => {
          memberships += items.length;
          if (memberships > MAX_MEMBERSHIPS) throw new DirectoryFailed('the directory lists too many members');
          await staging.addMembers(items);
        },
      },
    );
  const groups = { selected: readable, withheld };
  await staging.keepGroups(groups);
  await staging.analyze();
  return { people, groups };
}

async function* unlessWithheld(
  listing: AsyncIterable<ListedMembers>,
  onWithheld: (step: ListedMembers & { readonly kind: 'withheld' }) => void,
): AsyncGenerator<Listed<DirectoryMembership>> {
  for await (const step of listing) {
    if (step.kind === 'withheld') onWithheld(step);
    else yield step;
  }
}

/** Pages of directories are small, and each write takes round trips. */
const PEOPLE_AT_ONCE = 2_000;
const MEMBERS_AT_ONCE = 2_000;

/** Pages that are written together. Corrections concern what was listed before them, so their page stands alone. */
interface Batch<Item> {
  readonly pages: readonly (readonly Item[])[];
  readonly corrections?: Corrections | undefined;
}

/** The same list in batches of at least this many items, as far as it has them. Throws unless it has seen the end. */
async function* inBatches<Item>(
  listing: AsyncIterable<Listed<Item>>,
  size: number,
  signal: AbortSignal,
): AsyncGenerator<Batch<Item>> {
  let pages: (readonly Item[])[] = [];
  let waiting = 0;
  for await (const step of listing) {
    signal.throwIfAborted();
    const isEnd = step.kind === 'complete';
    const isAlone = !isEnd && step.corrections !== undefined;
    if (!isEnd && !isAlone) {
      pages.push(step.items);
      waiting += step.items.length;
    }
    if (pages.length > 0 && (waiting >= size || isEnd || isAlone)) {
      yield { pages };
      [pages, waiting] = [[], 0];
    }
    if (isAlone) yield { pages: [step.items], corrections: step.corrections };
    if (isEnd) return;
  }
  throw new DirectoryFailed('the directory ended its list early');
}

/** Whether everybody of one of these pages was listed before that page. */
function repeatsPage(pages: readonly (readonly DirectoryPerson[])[], listedBefore: ReadonlySet<string>): boolean {
  const seen = new Set(listedBefore);
  return pages.some((page) => {
    const isRepeated = page.length > 0 && page.every(({ externalId }) => seen.has(externalId));
    for (const { externalId } of page) seen.add(externalId);
    return isRepeated;
  });
}

interface BatchWork<Item, Prepared> {
  /** May run beside the writing of the batch before. */
  prepare(batch: Batch<Item>): Promise<Prepared>;
  write(batch: Batch<Item>, prepared: Prepared): Promise<void>;
}

/** While one batch is written, the next is prepared, and the one after that is read. Batches are written in order. */
async function eachBatch<Item, Prepared>(
  batches: AsyncIterable<Batch<Item>>,
  signal: AbortSignal,
  { prepare, write }: BatchWork<Item, Prepared>,
): Promise<void> {
  let written = Promise.resolve();
  let writtenBefore = written;
  const writeAfter = async (before: Promise<void>, batch: Batch<Item>) => {
    const [prepared] = await Promise.all([prepare(batch), before]);
    await write(batch, prepared);
  };
  try {
    for await (const batch of batches) {
      await writtenBefore;
      signal.throwIfAborted();
      writtenBefore = written;
      written = writeAfter(writtenBefore, batch);
      written.catch(() => undefined); // reported with a later batch
    }
    await written;
  } finally {
    await Promise.allSettled([writtenBefore, written]);
  }
}
