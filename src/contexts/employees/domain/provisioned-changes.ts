import type { Claims } from '../../../platform/kernel/command.ts';
import { inPrecedence, employeeEmailClaim, type EmployeeRecord, type EmployeeState } from './employee.ts';
import type { EmployeeEvent } from './events.ts';
import {
  isSameSource,
  linkClaims,
  ownerOf,
  type EmployeeLink,
  type ProvisioningSource,
  type SourcedField,
  type Statement,
} from './provisioning.ts';

export interface ProvisionedChange extends Claims {
  readonly events: readonly EmployeeEvent[];
  readonly version: number;
}

const described = ['displayName', 'department', 'jobTitle', 'externalId'] as const satisfies readonly SourcedField[];
const stated = [
  'userName',
  'externalId',
  'email',
  'displayName',
  'department',
  'jobTitle',
  'isActive',
  'upn',
  'sid',
  'profile',
] as const satisfies readonly (keyof Statement)[];

export const linkWith = ({ links }: EmployeeState, of: ProvisioningSource): EmployeeLink | undefined =>
  links.find(({ source }) => isSameSource(source, of));

/** What a statement changes in the link and in the person's record. No events: nothing. */
export function changesBy(
  state: EmployeeState,
  userId: string,
  source: ProvisioningSource,
  statement: Statement,
  emailDigest: string,
): ProvisionedChange {
  const before = linkWith(state, source);
  const differs = !before || stated.some((field) => before[field] !== statement[field]);
  const version = differs ? state.linkVersion + 1 : before.version;
  const link: EmployeeLink = { ...statement, source, version };
  const links = inPrecedence([...state.links.filter((other) => other !== before), link]);
  const moved = movedEmail(state, links, link, emailDigest);
  const record = { ...recordOf(state, links), ...moved.data, ...activity(state, links, link, before) };
  const events: EmployeeEvent[] = [];
  if (differs) events.push({ type: before ? 'EmployeeLinkChanged' : 'EmployeeLinked', data: { ...link, userId } });
  if (Object.keys(record).length > 0) events.push({ type: 'EmployeeUpdated', data: { ...record, userId } });
  const claims = changedClaims(before ? linkClaims(source, before) : [], linkClaims(source, statement));
  return {
    events,
    version,
    claim: [...claims.claim, ...moved.claim],
    release: [...claims.release, ...moved.release],
  };
}

/** What the end of a link changes: the next source decides about the fields, or administrators do. */
export function changesByEnd(
  state: EmployeeState,
  userId: string,
  link: EmployeeLink,
  how: 'left' | 'ended',
): ProvisionedChange {
  const links = state.links.filter((other) => other !== link);
  const record = { ...recordOf(state, links), ...(how === 'left' && state.isActive ? { isActive: false } : {}) };
  const events: EmployeeEvent[] = [{ type: 'EmployeeUnlinked', data: { userId, source: link.source, how } }];
  if (Object.keys(record).length > 0) events.push({ type: 'EmployeeUpdated', data: { ...record, userId } });
  return { events, version: link.version, release: linkClaims(link.source, link) };
}

/** A field that its source no longer states is cleared, unless another source states it. */
function recordOf(state: EmployeeState, links: readonly EmployeeLink[]): Partial<EmployeeRecord> {
  const changes: Record<string, string | null> = {};
  for (const field of described) {
    const [owner, earlier] = [ownerOf(links, field), ownerOf(state.links, field)];
    const isCleared = earlier !== undefined && links.some(({ source }) => isSameSource(source, earlier.source));
    const value = owner ? owner[field] : isCleared ? null : state.record[field];
    if (value !== state.record[field]) changes[field] = value;
  }
  return changes;
}

/** The e-mail moves only with a statement of its owner, because it must be free in the tenant. */
function movedEmail(
  state: EmployeeState,
  links: readonly EmployeeLink[],
  { source, email }: EmployeeLink,
  digest: string,
) {
  const owner = ownerOf(links, 'email');
  const isOwner = owner !== undefined && isSameSource(owner.source, source);
  // The e-mail in the event makes a placeholder a regular employee.
  if (!isOwner || (email === state.record.email && !state.isPlaceholder)) return { data: {}, claim: [], release: [] };
  const isSameAddress = digest === state.emailDigest;
  return {
    data: { email, emailDigest: digest },
    claim: isSameAddress ? [] : [employeeEmailClaim(digest)],
    release: isSameAddress ? [] : [employeeEmailClaim(state.emailDigest)],
  };
}

/**
 * A person is active while every linked source says so. After one source said that they left, only a source's change
 * to active brings them back, not the repetition of what another source always said.
 */
function activity(
  state: EmployeeState,
  links: readonly EmployeeLink[],
  link: EmployeeLink,
  before: EmployeeLink | undefined,
): { isActive?: boolean } {
  const returns = link.isActive && !before?.isActive;
  const isActive = links.every((each) => each.isActive) && (state.isActive || returns);
  return isActive === state.isActive ? {} : { isActive };
}

function changedClaims(before: readonly NamedClaim[], after: readonly NamedClaim[]) {
  const isIn = (claims: readonly NamedClaim[], { kind, value }: NamedClaim) =>
    claims.some((claim) => claim.kind === kind && claim.value === value);
  return {
    claim: after.filter((claim) => !isIn(before, claim)),
    release: before.filter((claim) => !isIn(after, claim)),
  };
}
type NamedClaim = ReturnType<typeof linkClaims>[number];
