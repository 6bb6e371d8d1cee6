import type { Filter } from './filter.ts';
import { matchesValue } from './match-value.ts';
import type { Leniency } from './normalization.ts';
import {
  distinct,
  isComplex,
  isUnassigned,
  readPart,
  readValue,
  refuse,
  sameValue,
  unlisted,
  type ScimComplex,
  type ScimValue,
} from './read-resource.ts';
import type { PatchOperation, PatchPath, ResolvedPath } from './resolve-path.ts';
import { attributeNamed, extensionNamed, type ScimAttribute, type ScimResourceType } from './schema.ts';

type AttributeTarget = Extract<PatchPath, { kind: 'attribute' }>;

const ofExtension = (resource: ScimComplex, extension: string | undefined): ScimComplex =>
  extension === undefined ? resource : ((resource[extension] as ScimComplex | undefined) ?? {});

/** Without a value the name is gone, and so is an extension without values. Names come from the schema alone. */
function put(object: ScimComplex, name: string, value: ScimValue | undefined): ScimComplex {
  const { [name]: _before, ...others } = object;
  const isGone = isUnassigned(value) || (isComplex(value) && Object.keys(value).length === 0);
  return isGone ? others : { ...others, [name]: value! };
}

function write(
  resource: ScimComplex,
  { extension, attribute }: ResolvedPath,
  value: ScimValue | undefined,
): ScimComplex {
  if (extension === undefined) return put(resource, attribute.name, value);
  return put(resource, extension, put(ofExtension(resource, extension), attribute.name, value));
}

/** One operation of a PATCH on a resource. Pure: returns another resource. */
export function applyOperation(
  type: ScimResourceType,
  resource: ScimComplex,
  { op, path, value }: PatchOperation,
  leniency: Leniency,
): ScimComplex {
  if (path.kind === 'extension') return applyToExtension(type, resource, { op, path, value }, path.extension, leniency);
  const { extension, attribute, sub, where } = path;
  const before = ofExtension(resource, extension)[attribute.name];
  const field = attribute.name;
  if (attribute.multiValued) {
    const values = (before as readonly ScimValue[] | undefined) ?? [];
    return write(resource, path, changedList({ ...path, values, op, value, leniency }));
  }
  if (where) return refuse(field, 'has no values to choose from', 'scim_invalid_path');
  if (sub) {
    const next = op === 'remove' ? undefined : readValue(sub, value, `${field}.${sub.name}`, leniency);
    return write(resource, path, put((before as ScimComplex | undefined) ?? {}, sub.name, next));
  }
  if (op === 'remove' || isUnassigned(value)) return write(resource, path, undefined);
  const given = unlisted(value, leniency);
  if (attribute.type === 'complex' && isComplex(given))
    return write(resource, path, withPart(attribute, (before as ScimComplex | undefined) ?? {}, given, leniency));
  return write(resource, path, readValue(attribute, given, field, leniency));
}

/** Sub-attributes that are not named stay (§3.5.2.1, §3.5.2.3); those without a value are gone. */
const withPart = (
  attribute: ScimAttribute,
  before: ScimComplex,
  given: Record<string, unknown>,
  leniency: Leniency,
): ScimComplex =>
  [...readPart(attribute, given, leniency)].reduce((part, [name, value]) => put(part, name, value), before);

function applyToExtension(
  type: ScimResourceType,
  resource: ScimComplex,
  { op, value }: PatchOperation,
  extension: string,
  leniency: Leniency,
): ScimComplex {
  if (op === 'remove' || isUnassigned(value)) return put(resource, extension, undefined);
  if (!isComplex(value)) return refuse(extension, 'has to be an object', 'scim_invalid_value');
  return Object.entries(value).reduce((before, [name, inner]) => {
    const attribute = attributeNamed(extensionNamed(type, extension)!.attributes, name);
    if (!attribute) leniency.note('unknown attribute');
    const path = attribute && ({ kind: 'attribute', extension, attribute, sub: undefined, where: undefined } as const);
    return path ? applyOperation(type, before, { op, path, value: inner }, leniency) : before;
  }, resource);
}

/** An operation on the values of a list. */
interface ListChange extends Pick<AttributeTarget, 'attribute' | 'sub' | 'where'> {
  readonly values: readonly ScimValue[];
  readonly op: PatchOperation['op'];
  readonly value: unknown;
  readonly leniency: Leniency;
}

function changedList(change: ListChange): readonly ScimValue[] {
  const { attribute, sub, where, values, op, value, leniency } = change;
  if (where) return changedMatches(change, where);
  if (sub) return changedSubs(change, sub, () => true);
  if (op === 'remove') return withoutListed(change);
  const given = (readValue(attribute, value, attribute.name, leniency) as readonly ScimValue[] | undefined) ?? [];
  return op === 'replace' ? given : added(values, given);
}

/** A value that exists already is not added again (§3.5.2.1). A new primary value takes the place of the former. */
function added(values: readonly ScimValue[], given: readonly ScimValue[]): readonly ScimValue[] {
  const fresh = given.filter((each) => !values.some((known) => sameValue(known, each)));
  return onePrimary(distinct([...values, ...fresh]), new Set(fresh));
}

const hasPrimary = (value: ScimValue): boolean => isComplex(value) && value['primary'] === true;

/** Of the changed values, the last one that is primary stays so, and no other value is (RFC 7643 §2.4). */
function onePrimary(values: readonly ScimValue[], changed: ReadonlySet<ScimValue>): readonly ScimValue[] {
  const primary = values.findLast((each) => changed.has(each) && hasPrimary(each));
  if (primary === undefined) return values;
  return values.map((each) =>
    each !== primary && hasPrimary(each) ? { ...(each as ScimComplex), primary: false } : each,
  );
}

/** Entra removes members with a list of values behind a path without a filter. */
function withoutListed({ attribute, values, value, leniency }: ListChange): readonly ScimValue[] {
  if (isUnassigned(value)) return [];
  leniency.note('members removed by value');
  const listed = readValue(attribute, value, attribute.name, leniency) as readonly ScimComplex[];
  const gone = new Set(listed.map((each) => each['value']));
  return values.filter((each) => !gone.has((each as ScimComplex)['value']!));
}

function changedMatches(change: ListChange, where: Filter): readonly ScimValue[] {
  const { attribute, sub, values, op, value } = change;
  const matches = (each: ScimValue) => matchesValue(attribute, each, where);
  if (op === 'remove' && !sub) return values.filter((each) => !matches(each));
  if (op !== 'remove' && !values.some(matches)) return created(change, where);
  if (sub) return changedSubs(change, sub, matches);
  if (isUnassigned(value)) return values.filter((each) => !matches(each));
  return changedWhere(values, matches, matchChange(change));
}

/** What happens to each value that a filter matches: a part is added to it, or another value replaces it. */
function matchChange({ attribute, op, value, leniency }: ListChange): (before: ScimComplex) => ScimComplex {
  if (op === 'add' && isComplex(value)) return (before) => withPart(attribute, before, value, leniency);
  const given = readValue({ ...attribute, multiValued: false }, value, attribute.name, leniency) as
    ScimComplex | undefined;
  // What states nothing that is known changes nothing.
  return (before) => (op === 'add' ? { ...before, ...given } : { ...(given ?? before) });
}

/** Values that are empty afterwards are gone. */
function changedWhere(
  values: readonly ScimValue[],
  matches: (value: ScimValue) => boolean,
  changeOne: (before: ScimComplex) => ScimComplex,
): readonly ScimValue[] {
  const changed = new Set<ScimValue>();
  const next = values.map((each) => {
    if (!matches(each)) return each;
    const after = changeOne(each as ScimComplex);
    changed.add(after);
    return after;
  });
  return onePrimary(distinct(next.filter((each) => Object.keys(each as ScimComplex).length > 0)), changed);
}

/**
 * `replace` on a filter that matches nothing fails (§3.5.2.3), except for `emails[type eq "work"].value`: Entra sends
 * that for people who have no such e-mail yet.
 */
function created({ attribute, sub, values, op, value, leniency }: ListChange, where: Filter): readonly ScimValue[] {
  const seed = seedOf(attribute, where, leniency);
  if (!seed || (op === 'replace' && (!sub || leniency.profile === 'okta')))
    return refuse(attribute.name, 'has no value that the filter matches', 'scim_no_target');
  leniency.note('value created for a filter that matched none');
  const given = sub
    ? { [sub.name]: readValue(sub, value, `${attribute.name}.${sub.name}`, leniency) }
    : (readValue({ ...attribute, multiValued: false }, value, attribute.name, leniency) as ScimComplex | undefined);
  const fresh = Object.fromEntries(
    Object.entries({ ...seed, ...given }).filter(([, each]) => each !== undefined),
  ) as ScimComplex;
  return added(values, [fresh]);
}

/** The values that a filter of equalities demands: `type eq "work" and primary eq true`. */
function seedOf(attribute: ScimAttribute, where: Filter, leniency: Leniency): ScimComplex | undefined {
  if (where.op === 'and') {
    const parts = where.filters.map((each) => seedOf(attribute, each, leniency));
    return parts.every((each) => each !== undefined) ? (Object.assign({}, ...parts) as ScimComplex) : undefined;
  }
  if (where.op !== 'eq' || where.value === null) return undefined;
  const sub = attributeNamed(attribute.subAttributes ?? [], where.path.attribute);
  const value = sub && readValue(sub, where.value, `${attribute.name}.${sub.name}`, leniency);
  return value === undefined ? undefined : { [sub!.name]: value };
}

function changedSubs(
  { attribute, values, op, value, leniency }: ListChange,
  sub: ScimAttribute,
  matches: (value: ScimValue) => boolean,
): readonly ScimValue[] {
  const next = op === 'remove' ? undefined : readValue(sub, value, `${attribute.name}.${sub.name}`, leniency);
  if (values.length === 0 && next !== undefined) return [{ [sub.name]: next }];
  return changedWhere(values, matches, (before) => put(before, sub.name, next));
}
