import type { Claim } from '../../../platform/kernel/command.ts';
import { conflict, type Failure } from '../../../platform/kernel/failure.ts';

/** Kinds of sources that maintain people, in the order of their precedence (decision 0100). */
export const provisioningKinds = ['scim', 'directory'] as const;
export type ProvisioningKind = (typeof provisioningKinds)[number];

/** What maintains a person or a group: a SCIM client or a directory source, by the id of its record. */
export interface ProvisioningSource {
  readonly kind: ProvisioningKind;
  readonly id: string;
}

/** What a source states about a person: its complete view, not a change. */
export interface ProvisionedPerson {
  /** Unique at the source, compared case-insensitively. */
  readonly userName: string;
  /** The person's id at the source, compared exactly. */
  readonly externalId: string | null;
  readonly email: string;
  readonly displayName: string;
  readonly department: string | null;
  readonly jobTitle: string | null;
  readonly isActive: boolean;
  /** Names at a directory by which agents ask for the person. SCIM clients state neither. */
  readonly upn: string | null;
  readonly sid: string | null;
  /** Further SCIM attributes. Null from a directory. */
  readonly profile: Readonly<Record<string, unknown>> | null;
}

/** A statement as events hold it: `profile` is JSON text, because a sealed value must be a string. */
export interface Statement extends Omit<ProvisionedPerson, 'profile'> {
  readonly profile: string | null;
}

/** The link between a person and one source, with that source's newest statement. */
export interface EmployeeLink extends Statement {
  readonly source: ProvisioningSource;
  /** Rises with every change of a link of this person, so a link that ended and returned repeats no number. */
  readonly version: number;
}

/** What decides who owns which field. */
export type OwningLink = Pick<EmployeeLink, SourcedField | 'source' | 'isActive'>;

/** Longest profile, as JSON text. */
export const MAX_PROFILE_LENGTH = 64 * 1024;

/** Who decides about a field: the first of these that states a value. */
export const fieldOwners = {
  email: ['scim', 'directory', 'administrator'],
  displayName: ['scim', 'directory', 'administrator'],
  department: ['scim', 'directory', 'administrator'],
  jobTitle: ['scim', 'directory', 'administrator'],
  externalId: ['scim', 'directory', 'administrator'],
  upn: ['directory'],
  sid: ['directory'],
} as const satisfies Readonly<Record<string, readonly (ProvisioningKind | 'administrator')[]>>;
export type SourcedField = keyof typeof fieldOwners;

export const isSameSource = (a: ProvisioningSource, b: ProvisioningSource): boolean =>
  a.kind === b.kind && a.id === b.id;

/** ASCII, which nearly every name is, is normalized already: the look is much cheaper than the normalization. */
export const folded = (name: string): string => (/\P{ASCII}/u.test(name) ? name.normalize('NFC') : name).toLowerCase();

/** Only a directory knows `upn` and `sid`: a SCIM client could otherwise enroll browsers in anybody's name. */
export function asStatement(
  { kind }: ProvisioningSource,
  { profile, upn, sid, ...person }: ProvisionedPerson,
): Statement {
  const isDirectory = kind === 'directory';
  return {
    upn: isDirectory ? upn : null,
    sid: isDirectory ? sid : null,
    profile: profile === null ? null : JSON.stringify(profile),
    ...person,
  };
}

export const userNameClaim = ({ kind, id }: ProvisioningSource, userName: string): Claim => ({
  kind: 'provisioned-user-name',
  value: `${kind}|${id}|${folded(userName)}`,
  fields: ['userName'],
});
export const externalIdClaim = ({ kind, id }: ProvisioningSource, externalId: string): Claim => ({
  kind: 'provisioned-external-id',
  value: `${kind}|${id}|${externalId}`,
  fields: ['externalId'],
});
export const upnClaim = (upn: string): Claim => ({ kind: 'employee-upn', value: folded(upn), fields: ['upn'] });
export const sidClaim = (sid: string): Claim => ({ kind: 'employee-sid', value: folded(sid), fields: ['sid'] });

/** What a link makes unique: names at its source, and the names by which agents ask in the whole tenant. */
export function linkClaims(source: ProvisioningSource, { userName, externalId, upn, sid }: Statement): Claim[] {
  return [
    userNameClaim(source, userName),
    ...(externalId === null ? [] : [externalIdClaim(source, externalId)]),
    ...(upn === null ? [] : [upnClaim(upn)]),
    ...(sid === null ? [] : [sidClaim(sid)]),
  ];
}

/** The source that decides about a field, if any does. */
export const ownerOf = <L extends OwningLink>(links: readonly L[], field: SourcedField): L | undefined =>
  fieldOwners[field]
    .map((owner) => links.find(({ source }) => source.kind === owner))
    .find((link) => link !== undefined && link[field] !== null);

export interface FieldOwner {
  readonly field: SourcedField | 'status';
  readonly source: ProvisioningSource;
}

/** The fields that sources decide about. The status has all linked sources as owners; the first one is named. */
export function ownedFields(links: readonly OwningLink[]): FieldOwner[] {
  const owners = (Object.keys(fieldOwners) as SourcedField[]).flatMap((field) => {
    const owner = ownerOf(links, field);
    return owner ? [{ field, source: owner.source }] : [];
  });
  const status = links.find(({ isActive }) => !isActive) ?? links[0];
  return status ? [...owners, { field: 'status', source: status.source }] : owners;
}

const NAMES: Readonly<Record<ProvisioningKind, string>> = { scim: 'SCIM client', directory: 'directory source' };
export const nameOfSource = ({ kind, id }: ProvisioningSource): string => `${NAMES[kind]} ${id}`;

/** The refusal of a change to fields that sources own. It names each field and its owner. */
export const ownedBySource = (
  owners: readonly { readonly field: string; readonly source: ProvisioningSource }[],
): Failure => {
  const fields = owners.map(({ field, source }) => ({ field, message: `is owned by ${nameOfSource(source)}` }));
  const [first] = fields;
  return { ...conflict('owned_by_source', first && `${first.field}: ${first.message}`), fields };
};
