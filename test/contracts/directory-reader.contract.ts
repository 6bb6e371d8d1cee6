import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  DirectoryMembership,
  DirectoryPerson,
  DirectoryReader,
  Listed,
  ListedMembers,
} from '../../src/contexts/directory-sources/domain/directory-reader.ts';
import { personNumbered, type PeerContent } from '../dsl/directory-peers.ts';

export interface DirectoryBench {
  open(credential?: string): DirectoryReader;
  /** The id at the directory of a group of the content. */
  groupId(id: string): Promise<string>;
  close(): Promise<void>;
}

/** Ten people in several pages, one of them inactive; a group within a group, and two groups that contain each other. */
export const contractContent = ({ nests }: { readonly nests: boolean }): PeerContent => ({
  people: Array.from({ length: 10 }, (_, n) =>
    personNumbered(n, n === 4 ? { name: 'Zoë (Ext.) *Ünal\\', department: 'R&D, Süd' } : {}),
  ),
  groups: [
    { id: 'inner', name: 'inner', members: ['id-0', 'id-1', 'id-2', 'id-3', 'id-4'] },
    { id: 'outer', name: 'outer', members: nests ? ['inner', 'id-5', 'id-1'] : ['id-1', 'id-5'] },
    { id: 'round', name: 'round', members: nests ? ['about', 'id-6'] : ['id-6'] },
    { id: 'about', name: 'about', members: nests ? ['round', 'id-7'] : ['id-7'] },
  ],
});

export async function listed<Item>(
  listing: AsyncIterable<Listed<Item> | (ListedMembers & { readonly kind: 'withheld' })>,
): Promise<{ items: Item[]; isComplete: boolean; withheld: string[] }> {
  const items: Item[] = [];
  const withheld: string[] = [];
  let isComplete = false;
  for await (const step of listing) {
    expect(isComplete).toBe(false);
    if (step.kind === 'page') items.push(...step.items);
    else if (step.kind === 'withheld') withheld.push(step.groupId);
    else isComplete = true;
  }
  return { items, isComplete, withheld };
}

const emailsOf = (people: readonly DirectoryPerson[]) => people.map(({ email }) => email).sort();

/** What every adapter of `DirectoryReader` does. */
export function directoryReaderContract(
  kind: string,
  { nests }: { readonly nests: boolean },
  start: (content: PeerContent) => Promise<DirectoryBench>,
): void {
  describe(`a reader of ${kind}`, () => {
    const content = contractContent({ nests });
    let bench: DirectoryBench;
    let reader: DirectoryReader;
    beforeAll(async () => {
      bench = await start(content);
      reader = bench.open();
    });
    afterAll(async () => {
      await reader.close();
      await bench.close();
    });

    it('tests the connection', async () => {
      await expect(reader.test()).resolves.toBeUndefined();
    });

    it('refuses a wrong credential, for good', async () => {
      const wrong = bench.open('wrong');
      await expect(wrong.test()).rejects.toMatchObject({
        name: 'DirectoryFailed',
        message: 'the directory refuses the credentials',
        isLasting: true,
      });
      await wrong.close();
    });

    it('lists everybody once, over several pages, and says that nothing is missing', async () => {
      const { items, isComplete } = await listed(reader.people());
      expect([emailsOf(items), isComplete]).toEqual([content.people.map(({ email }) => email).sort(), true]);
      expect(new Set(items.map(({ externalId }) => externalId)).size).toBe(10);
      const hostile = items.find(({ email }) => email === 'person4@acme.example')!;
      expect(hostile).toMatchObject({ displayName: 'Zoë (Ext.) *Ünal\\', department: 'R&D, Süd', jobTitle: 'Clerk' });
    });

    it('gives the same ids at every reading', async () => {
      const [first, second] = [await listed(reader.people()), await listed(reader.people())];
      const byEmail = (people: readonly DirectoryPerson[]) =>
        Object.fromEntries(people.map(({ email, externalId }) => [email, externalId]));
      expect(byEmail(first.items)).toEqual(byEmail(second.items));
    });

    it('offers groups, no more than wanted', async () => {
      const all = await reader.groups(100);
      expect([all.groups.map(({ name }) => name).sort(), all.isTruncated]).toEqual([
        ['about', 'inner', 'outer', 'round'],
        false,
      ]);
      const [one] = all.groups;
      const names = await reader.groupNames([one!.externalId, '00000000-0000-4000-8000-00000000dead']);
      expect([[...names.names], names.withheld]).toEqual([[[one!.externalId, one!.name]], []]);
      const some = await reader.groups(2);
      expect([some.groups.length, some.isTruncated]).toEqual([2, true]);
    });

    it('lists members, those of nested groups once, also where groups contain each other', async () => {
      const { items: people } = await listed(reader.people());
      const ids = await Promise.all(['outer', 'round'].map((id) => bench.groupId(id)));
      const { items, isComplete } = await listed<DirectoryMembership>(reader.memberships(ids));
      const namesIn = (groupId: string) =>
        [
          ...new Set(
            items
              .filter((one) => one.groupId === groupId)
              .map(({ memberKey }) => people.find((one) => one.memberKey === memberKey)?.email?.split('@')[0]),
          ),
        ].sort();
      expect(isComplete).toBe(true);
      expect(namesIn(ids[0]!)).toEqual((nests ? [0, 1, 2, 3, 4, 5] : [1, 5]).map((n) => `person${n}`));
      expect(namesIn(ids[1]!)).toEqual((nests ? [6, 7] : [6]).map((n) => `person${n}`));
    });

    it('completes the list of members of no group', async () => {
      expect(await listed(reader.memberships([]))).toEqual({ items: [], isComplete: true, withheld: [] });
    });
  });
}
