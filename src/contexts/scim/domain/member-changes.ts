import type { Comparison, Filter } from './filter.ts';
import { isUuid } from '../../../platform/kernel/ids.ts';
import { groupType } from './group-schema.ts';
import type { Leniency } from './normalization.ts';
import type { PatchOperation } from './resolve-path.ts';
import { isComplex, isUnassigned, readValue, refuse, type ScimComplex, type ScimValue } from './read-resource.ts';

/** What operations on `members` come to, without a look at the members that the group has. */
export interface MemberChange {
  /** The complete new membership, to which `add` and `remove` then apply; undefined: that of the group. */
  readonly members: readonly string[] | undefined;
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

const members = groupType.schema.attributes.find(({ name }) => name === 'members')!;

export const isAboutMembers = ({ path }: PatchOperation): boolean =>
  path.kind === 'attribute' && path.attribute.name === members.name;

/** The ids of a list of members. Groups in groups are not supported. */
export const memberIds = (list: ScimValue | undefined): string[] =>
  ((list as readonly ScimComplex[] | undefined) ?? []).map((member) => {
    const { value, type } = member;
    if (typeof type === 'string' && type.toLowerCase() !== 'user')
      return refuse('members.type', 'has to be User', 'scim_invalid_value');
    return typeof value === 'string'
      ? value.toLowerCase()
      : refuse('members.value', 'is required', 'scim_invalid_value');
  });

/** The ids that `members[value eq "a" or value eq "b"]` names. All members are users, so `type eq "User"` leaves none out. */
function idsIn(where: Filter): string[] {
  if (where.op === 'or') return where.filters.flatMap(idsIn);
  if (where.op === 'and') {
    const [types, others] = [where.filters.filter(isAboutType), where.filters.filter((each) => !isAboutType(each))];
    const [first, ...further] = others.map(idsIn);
    if (!first) return refuse('members', 'can be chosen by value only', 'scim_invalid_path');
    return types.every(isOfUsers) ? first.filter((id) => further.every((ids) => ids.includes(id))) : [];
  }
  const isId = where.op === 'eq' && where.path.attribute.toLowerCase() === 'value' && typeof where.value === 'string';
  if (!isId) return refuse('members', 'can be chosen by value only', 'scim_invalid_path');
  return [(where.value as string).toLowerCase()];
}

const isAboutType = (where: Filter): where is Extract<Filter, { op: Comparison }> =>
  where.op === 'eq' && where.path.attribute.toLowerCase() === 'type';

const isOfUsers = (where: Filter): boolean =>
  isAboutType(where) && typeof where.value === 'string' && where.value.toLowerCase() === 'user';

export function memberChangeOf(operations: readonly PatchOperation[], leniency: Leniency): MemberChange {
  let complete: readonly string[] | undefined;
  const [add, remove] = [new Set<string>(), new Set<string>()];
  const put = (ids: readonly string[]) => ids.forEach((id) => void (remove.delete(id), add.add(id)));
  const drop = (ids: readonly string[]) => ids.forEach((id) => void (add.delete(id), remove.add(id)));
  const restart = (ids: readonly string[]) => {
    complete = ids;
    add.clear();
    remove.clear();
  };
  for (const { op, path, value } of operations.filter(isAboutMembers)) {
    if (path.kind !== 'attribute') continue;
    const listed = () => memberIds(readValue(members, value, 'members', leniency));
    if (path.where) {
      if (path.sub) refuse('members', 'are immutable: remove the member and add another', 'scim_mutability');
      if (op === 'remove') drop(idsIn(path.where));
      else put(idsIn(path.where));
    } else if (path.sub) {
      if (path.sub.name !== 'value')
        refuse('members', 'are immutable: remove the member and add another', 'scim_mutability');
      const ids = memberIds(readValue(members, asMembers(value), 'members', leniency));
      if (op === 'remove') drop(ids);
      else put(ids);
    } else if (op === 'add') put(listed());
    else if (op === 'replace') restart(listed());
    else if (isUnassigned(value)) restart([]);
    else {
      leniency.note('members removed by value');
      drop(listed());
    }
  }
  // An id that is no UUID is nobody's: it cannot be added, and need not be removed.
  for (const id of [...(complete ?? []), ...add])
    if (!isUuid(id)) refuse('members.value', 'has to be the id of a user', 'scim_invalid_value');
  return { members: complete, add: [...add], remove: [...remove].filter(isUuid) };
}

const asMembers = (value: unknown): unknown =>
  (Array.isArray(value) ? value : [value]).map((each: unknown) => (isComplex(each) ? each : { value: each }));
