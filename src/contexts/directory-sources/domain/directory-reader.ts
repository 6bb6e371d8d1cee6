/** A person as a directory describes them. */
export interface DirectoryPerson {
  /** Stays the same when the person is renamed or moved. */
  readonly externalId: string;
  /** The name under which memberships refer to the person: a DN in LDAP, otherwise the external id. */
  readonly memberKey: string;
  readonly userName: string;
  readonly email: string | null;
  readonly displayName: string;
  readonly department: string | null;
  readonly jobTitle: string | null;
  readonly isActive: boolean;
  readonly upn: string | null;
  readonly sid: string | null;
}

export interface DirectoryGroup {
  readonly externalId: string;
  readonly name: string;
  /** Null if the directory does not tell without listing the members. */
  readonly memberCount: number | null;
}

export interface DirectoryMembership {
  readonly groupId: string;
  readonly memberKey: string;
}

/**
 * One step of a listing. Only `complete` says that nothing is missing: a listing that ends without it was read in part,
 * and nobody may be deactivated because of it.
 */
export type Listed<Item> =
  | {
      readonly kind: 'page';
      readonly items: readonly Item[];
      /** Of a directory that tells what changed while it was read. */
      readonly corrections?: Corrections;
    }
  | { readonly kind: 'complete' };

/** Also the members of one group may be withheld: those that were listed before do not count. */
export type ListedMembers =
  Listed<DirectoryMembership> | { readonly kind: 'withheld'; readonly groupId: string; readonly reason: string };

/** A selected group that the directory does not let the source read, now and until somebody changes something. */
export interface WithheldGroup {
  readonly externalId: string;
  /** Null if the directory withholds it, too. */
  readonly name: string | null;
  readonly reason: string;
}

/** One that is in neither is gone from the directory, which was asked for it. */
export interface NamedGroups {
  readonly names: ReadonlyMap<string, string>;
  readonly withheld: readonly WithheldGroup[];
}

/** What one reading found out about the selected groups. */
export interface ReadGroups {
  /** Names by id, of the groups whose members were read. */
  readonly selected: ReadonlyMap<string, string>;
  /** They stay as they are. */
  readonly withheld: readonly WithheldGroup[];
}

/** Items of the page may correct what earlier pages said, so it is no mistake if all were listed before. */
export interface Corrections {
  /** External ids of people who were listed before, perhaps, and have left. */
  readonly gone: readonly string[];
}

export const listedPage = <Item>(items: readonly Item[], corrections?: Corrections): Listed<Item> => ({
  kind: 'page',
  items,
  ...(corrections ? { corrections } : {}),
});
export const COMPLETE = { kind: 'complete' } as const;

/** Reads one directory. Every method throws `DirectoryFailed` if the directory cannot be reached or misbehaves. */
export interface DirectoryReader {
  /** Connects, authenticates and reads one entry. */
  test(): Promise<void>;
  /** At most `most` groups. */
  groups(most: number): Promise<{ readonly groups: readonly DirectoryGroup[]; readonly isTruncated: boolean }>;
  /** Names of these groups, by id. */
  groupNames(groupIds: readonly string[]): Promise<NamedGroups>;
  people(): AsyncIterable<Listed<DirectoryPerson>>;
  /** Members of these groups, those of nested groups included. */
  memberships(groupIds: readonly string[]): AsyncIterable<ListedMembers>;
  close(): Promise<void>;
}

/**
 * Why a directory could not be read, in fixed words that an administrator may see. Quotes nothing from the directory but the
 * id of a group that an administrator chose.
 */
export class DirectoryFailed extends Error {
  /** Another attempt would fail too, until somebody changes something. */
  readonly isLasting: boolean;

  constructor(reason: string, { isLasting = false, cause }: { isLasting?: boolean; cause?: unknown } = {}) {
    super(reason, { cause });
    this.name = 'DirectoryFailed';
    this.isLasting = isLasting;
  }
}

/** The credentials are good, and may not read this. */
export class DirectoryForbids extends DirectoryFailed {
  constructor(reason: string, cause?: unknown) {
    super(reason, { isLasting: true, cause });
  }
}

/** Entries of one directory. A directory that lists more is not read. */
export const MAX_PEOPLE = 500_000;
export const MAX_DIRECTORY_GROUPS = 20_000;
export const MAX_MEMBERSHIPS = 5_000_000;
