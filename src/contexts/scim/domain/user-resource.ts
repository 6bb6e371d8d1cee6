import { createHash } from 'node:crypto';
import { employeeEmailField } from '../../employees/domain/employee-email.ts';
import {
  MAX_PROFILE_LENGTH,
  type ProvisionedPerson,
  type ProvisioningSource,
} from '../../employees/domain/provisioning.ts';
import { isComplex, refuse, type ScimComplex, type ScimValue } from './read-resource.ts';
import { versionTag } from './entity-tags.ts';
import { ENTERPRISE_USER, USER } from './user-schema.ts';

/** Longest name of a person at a client, and longest text of an employee's field. */
const MAX_NAME = 300;
const MAX_FIELD = 200;

const textIn = (object: ScimValue | undefined, name: string): string | undefined => {
  const value = isComplex(object) ? object[name] : undefined;
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
};

const field = (text: string | undefined): string | undefined => text?.slice(0, MAX_FIELD).trim();

const addressIn = (text: string): string | undefined => employeeEmailField.safeParse(text).data;

/** The primary e-mail, else that for work, else the first, else a user name that is an address (OP-224). */
function emailOf(resource: ScimComplex, { id }: ProvisioningSource): string {
  const emails = ((resource['emails'] as readonly ScimComplex[] | undefined) ?? []).filter((each) =>
    textIn(each, 'value'),
  );
  const chosen =
    emails.find(({ primary }) => primary === true) ??
    emails.find((each) => textIn(each, 'type')?.toLowerCase() === 'work') ??
    emails[0];
  const address = textIn(chosen, 'value');
  if (address !== undefined)
    return addressIn(address) ?? refuse('emails.value', 'is not an e-mail address', 'scim_invalid_value');
  const userName = (resource['userName'] as string).trim();
  const named = addressIn(userName);
  if (named !== undefined) return named;
  // RFC 7643 does not require an e-mail. The address can reach nobody: `invalid` is reserved (RFC 2606).
  const digest = createHash('sha256')
    .update(`${id}|${userName.normalize('NFC').toLowerCase()}`)
    .digest('hex');
  return `scim-${digest.slice(0, 32)}@no-email.invalid`;
}

/** The name that the client states. RFC 7643 §4.1.1 requires none. */
export function statedNameOf(resource: ScimComplex): string | undefined {
  const name = resource['name'];
  const parts = [textIn(name, 'givenName'), textIn(name, 'familyName')].filter((part) => part !== undefined);
  return (
    field(textIn(resource, 'displayName')) ??
    field(textIn(name, 'formatted')) ??
    (parts.length > 0 ? field(parts.join(' ')) : undefined)
  );
}

/** The name of somebody of whom nobody states one. */
const nameFromUserName = (resource: ScimComplex): string => field(textIn(resource, 'userName')) ?? 'Unnamed';

/** A user as it was before a change: all attributes, and the name of the employee. */
interface EarlierUser {
  readonly attributes: ScimComplex;
  readonly displayName: string;
}

/** A name that others gave stays while the client states none. */
function displayNameOf(resource: ScimComplex, before: EarlierUser | undefined): string {
  const isOfOthers =
    before !== undefined &&
    statedNameOf(before.attributes) === undefined &&
    before.displayName !== nameFromUserName(before.attributes);
  return statedNameOf(resource) ?? (isOfOthers ? before.displayName : nameFromUserName(resource));
}

const bounded = (name: string, text: string): string =>
  text.length > MAX_NAME ? refuse(name, `must be at most ${MAX_NAME} characters long`, 'scim_invalid_value') : text;

/** What the client states about the person: the employee's fields, and all attributes as it sent them. */
export function personOf(resource: ScimComplex, source: ProvisioningSource, before?: EarlierUser): ProvisionedPerson {
  const { userName, externalId, active, ...profile } = resource;
  if (JSON.stringify(profile).length > MAX_PROFILE_LENGTH)
    refuse('body', `must have at most ${MAX_PROFILE_LENGTH} characters`, 'scim_invalid_value');
  return {
    userName: bounded('userName', userName as string),
    externalId: externalId === undefined ? null : bounded('externalId', externalId as string),
    email: emailOf(resource, source),
    displayName: displayNameOf(resource, before),
    department: field(textIn(resource[ENTERPRISE_USER], 'department')) ?? null,
    jobTitle: field(textIn(resource, 'title')) ?? null,
    isActive: active !== false,
    upn: null,
    sid: null,
    profile,
  };
}

/** The attributes that the client may change, as they are now. */
export const userAttributes = ({
  userName,
  externalId,
  isActive,
  profile,
}: Pick<ProvisionedPerson, 'userName' | 'externalId' | 'isActive'> & { profile: unknown }): ScimComplex => ({
  userName,
  ...(externalId === null ? {} : { externalId }),
  ...(isComplex(profile) ? (profile as ScimComplex) : {}),
  active: isActive,
});

export interface ResourceFacts {
  readonly id: string;
  readonly createdAt: string;
  readonly modifiedAt: string;
  readonly version: number;
  /** The address of `/scim/v2`. */
  readonly base: string;
}

export const metaOf = (
  resourceType: 'User' | 'Group',
  { id, createdAt, modifiedAt, version, base }: ResourceFacts,
  shownOfOthers: readonly string[],
): ScimComplex => ({
  resourceType,
  created: createdAt,
  lastModified: modifiedAt,
  location: `${base}/${resourceType}s/${id}`,
  version: versionTag(version, shownOfOthers),
});

export interface GroupOfUser {
  readonly id: string;
  readonly name: string;
}

export const userResource = (
  attributes: ScimComplex,
  facts: ResourceFacts,
  groups: readonly GroupOfUser[] = [],
): ScimComplex => ({
  schemas: attributes[ENTERPRISE_USER] === undefined ? [USER] : [USER, ENTERPRISE_USER],
  id: facts.id,
  ...attributes,
  ...(groups.length > 0
    ? {
        groups: groups.map(({ id, name }) => ({
          value: id,
          $ref: `${facts.base}/Groups/${id}`,
          display: name,
          type: 'direct',
        })),
      }
    : {}),
  meta: metaOf(
    'User',
    facts,
    groups.flatMap(({ id, name }) => [id, name]),
  ),
});
