import { isDeepStrictEqual } from 'node:util';
import { FailureError, invalid } from '../../../platform/kernel/failure.ts';
import type { Leniency } from './normalization.ts';
import { attributeNamed, attributesOf, extensionNamed, type ScimAttribute, type ScimResourceType } from './schema.ts';

/** A value of JSON, or a resource with names as the schema spells them. */
export type ScimValue = string | number | boolean | ScimComplex | readonly ScimValue[];
export interface ScimComplex {
  readonly [name: string]: ScimValue;
}

/** Longest text of one value, and most values of one attribute of a person. */
const MAX_TEXT = 10_000;
const MAX_VALUES = 200;
/** Members that one request names. */
const MAX_MEMBERS = 20_000;

export const isComplex = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** RFC 7643 §2.5: null and an empty list state that there is no value. */
export const isUnassigned = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

export const refuse = (
  field: string,
  reason: string,
  code:
    | 'scim_invalid_value'
    | 'scim_invalid_syntax'
    | 'scim_invalid_path'
    | 'scim_invalid_filter'
    | 'scim_no_target'
    | 'scim_mutability',
): never => {
  throw new FailureError(invalid(field, reason, code));
};

/** A resource whose names are those of the schema, with what is unknown or read-only left out. */
export function readNamed(type: ScimResourceType, body: Record<string, unknown>, leniency: Leniency): ScimComplex {
  checkSchemas(type.schema.id, body, leniency);
  const resource = Object.assign(
    nothing(),
    readMembers(attributesOf(type), withoutExtensions(type, body), '', leniency),
  );
  for (const [name, value] of Object.entries(body)) {
    const extension = extensionNamed(type, name);
    if (!extension || isUnassigned(value)) continue;
    if (!isComplex(value)) refuse(name, 'has to be an object', 'scim_invalid_value');
    const read = readMembers(extension.attributes, value as Record<string, unknown>, `${name}:`, leniency);
    if (Object.keys(read).length > 0) resource[extension.id] = read;
  }
  return resource;
}

const nothing = (): Record<string, ScimValue> => ({});

const withoutExtensions = (type: ScimResourceType, body: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(body).filter(([name]) => !extensionNamed(type, name) && name.toLowerCase() !== 'schemas'),
  );

/** OP-566: `schemas` may be missing. What names only other schemas is another message, and is refused. */
export function checkSchemas(id: string, body: Record<string, unknown>, leniency: Leniency): void {
  const schemas = Object.entries(body).find(([name]) => name.toLowerCase() === 'schemas')?.[1];
  if (isUnassigned(schemas)) return leniency.note('schemas missing or incomplete');
  const named: readonly unknown[] = Array.isArray(schemas) ? schemas : [schemas];
  if (!named.some((each) => typeof each === 'string' && each.toLowerCase() === id.toLowerCase()))
    refuse('schemas', `must name ${id}`, 'scim_invalid_value');
  if (!Array.isArray(schemas)) leniency.note('single value for a list');
}

/** RFC 7643 §7: a required attribute has a value. */
export function requireAll({ schema }: ScimResourceType, resource: ScimComplex): void {
  for (const { name, required } of schema.attributes)
    if (required && (isUnassigned(resource[name]) || String(resource[name]).trim() === ''))
      refuse(name, 'is required', 'scim_invalid_value');
}

function readMembers(
  among: readonly ScimAttribute[],
  object: Record<string, unknown>,
  prefix: string,
  leniency: Leniency,
): Record<string, ScimValue> {
  const read = nothing();
  for (const [name, value] of statedMembers(among, object, prefix, leniency))
    if (value !== undefined) read[name] = value;
  return read;
}

/** The members that an object states, by the names of the schema; undefined for one that has no value (RFC 7643 §2.5). */
function statedMembers(
  among: readonly ScimAttribute[],
  object: Record<string, unknown>,
  prefix: string,
  leniency: Leniency,
): ReadonlyMap<string, ScimValue | undefined> {
  const stated = new Map<string, ScimValue | undefined>();
  for (const [given, value] of Object.entries(object)) {
    const attribute = attributeNamed(among, given);
    if (!attribute) {
      leniency.note('unknown attribute');
      continue;
    }
    if (attribute.name !== given) leniency.note('attribute name in another case');
    if (stated.has(attribute.name)) refuse(prefix + attribute.name, 'is given twice', 'scim_invalid_syntax');
    if (isIgnored(attribute, leniency)) continue;
    stated.set(attribute.name, readValue(attribute, value, prefix + attribute.name, leniency));
  }
  return stated;
}

/** What a PATCH states about sub-attributes of a complex value. Those that it does not state stay as they are. */
export function readPart(
  { name, subAttributes = [] }: ScimAttribute,
  value: Record<string, unknown>,
  leniency: Leniency,
): ReadonlyMap<string, ScimValue | undefined> {
  return statedMembers(subAttributes, value, `${name}.`, leniency);
}

/** RFC 7644 §3.3: what is read-only is ignored. A password is accepted and kept nowhere. */
export function isIgnored({ mutability }: ScimAttribute, leniency: Leniency): boolean {
  if (mutability === 'readOnly') leniency.note('read-only attribute');
  if (mutability === 'writeOnly') leniency.note('password discarded');
  return mutability === 'readOnly' || mutability === 'writeOnly';
}

/** The value of an attribute; undefined if it states that there is none. */
export function readValue(
  attribute: ScimAttribute,
  value: unknown,
  field: string,
  leniency: Leniency,
): ScimValue | undefined {
  if (isUnassigned(value)) return undefined;
  if (!attribute.multiValued) return readSingle(attribute, unlisted(value, leniency), field, leniency);
  if (!Array.isArray(value)) leniency.note('single value for a list');
  const given = Array.isArray(value) ? value : [value];
  const most = attribute.name === 'members' ? MAX_MEMBERS : MAX_VALUES;
  if (given.length > most) refuse(field, `must have at most ${most} values`, 'scim_invalid_value');
  const values = given.flatMap((each) => readSingle(attribute, each, field, leniency) ?? []);
  return withOnePrimary(field, distinct(values));
}

/** Entra ID sends a manager as a list of one. Of several values none is chosen. */
export function unlisted(value: unknown, leniency: Leniency): unknown {
  if (!Array.isArray(value) || value.length !== 1) return value;
  leniency.note('list for a single value');
  return value[0];
}

/** RFC 7643 §2.4: the same value is not listed twice. */
export function distinct(values: readonly ScimValue[]): ScimValue[] {
  const seen = new Set<string>();
  return values.filter((value) => {
    const key = JSON.stringify(value);
    return seen.has(key) ? false : seen.add(key);
  });
}

export const sameValue = (a: ScimValue, b: ScimValue): boolean => isDeepStrictEqual(a, b);

const isPrimary = (value: ScimValue): boolean => isComplex(value) && value['primary'] === true;

function withOnePrimary(field: string, values: ScimValue[]): ScimValue[] {
  if (values.filter(isPrimary).length > 1)
    refuse(`${field}.primary`, 'must be true at most once', 'scim_invalid_value');
  return values;
}

function readSingle(
  attribute: ScimAttribute,
  value: unknown,
  field: string,
  leniency: Leniency,
): ScimValue | undefined {
  const { type, subAttributes = [] } = attribute;
  if (isUnassigned(value)) return undefined;
  switch (type) {
    case 'boolean':
      return readBoolean(value, field, leniency);
    case 'complex': {
      if (!isComplex(value) && typeof value === 'object')
        return refuse(field, 'has to be an object', 'scim_invalid_value');
      if (!isComplex(value) && !attributeNamed(subAttributes, 'value'))
        return refuse(field, 'has to be an object', 'scim_invalid_value');
      if (!isComplex(value)) leniency.note('plain value for a complex one');
      const read = readMembers(subAttributes, isComplex(value) ? value : { value }, `${field}.`, leniency);
      return Object.keys(read).length === 0 ? undefined : read;
    }
    default:
      return readText(value, field, leniency);
  }
}

function readText(value: unknown, field: string, leniency: Leniency): string {
  if (typeof value === 'number' || typeof value === 'boolean') leniency.note('number as text');
  else if (typeof value !== 'string') refuse(field, 'has to be a text', 'scim_invalid_value');
  const text = String(value);
  if (text.length > MAX_TEXT) refuse(field, `must be at most ${MAX_TEXT} characters long`, 'scim_invalid_value');
  return text;
}

function readBoolean(value: unknown, field: string, leniency: Leniency): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string' || !/^(?:true|false)$/i.test(value))
    return refuse(field, 'has to be true or false', 'scim_invalid_value');
  leniency.note('boolean as text');
  return value.toLowerCase() === 'true';
}
