import { applyOperation } from './apply-operation.ts';
import { MalformedExpression } from './filter.ts';
import type { Leniency } from './normalization.ts';
import { isComplex, checkSchemas, refuse, requireAll, type ScimComplex } from './read-resource.ts';
import { readPatchPath, type PatchOperation, type PatchPath, type UnknownPath } from './resolve-path.ts';
import { attributeNamed, attributesOf, extensionNamed, type ScimResourceType } from './schema.ts';

export const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/** Operations of one request. Identity providers send at most a few dozen. */
const MAX_OPERATIONS = 1_000;

/** The operations of a PATCH, each with one target: those without a path are taken apart by attribute. */
export function readPatch(type: ScimResourceType, body: unknown, leniency: Leniency): PatchOperation[] {
  if (!isComplex(body)) return refuse('body', 'has to be a PatchOp', 'scim_invalid_syntax');
  checkSchemas(PATCH_OP, body, leniency);
  const operations = memberOf(body, 'operations');
  if (!Array.isArray(operations) || operations.length === 0)
    return refuse('Operations', 'has to be a list of operations', 'scim_invalid_syntax');
  if (operations.length > MAX_OPERATIONS)
    return refuse('Operations', `must have at most ${MAX_OPERATIONS} operations`, 'scim_invalid_syntax');
  return operations.flatMap((operation: unknown, at) => readOperation(type, operation, `Operations.${at}`, leniency));
}

const memberOf = (object: Record<string, unknown>, name: string): unknown =>
  Object.entries(object).find(([key]) => key.toLowerCase() === name)?.[1];

function readOperation(
  type: ScimResourceType,
  operation: unknown,
  field: string,
  leniency: Leniency,
): PatchOperation[] {
  if (!isComplex(operation)) return refuse(field, 'has to be an object', 'scim_invalid_syntax');
  const op = readOp(memberOf(operation, 'op'), `${field}.op`, leniency);
  const path = memberOf(operation, 'path');
  const value = memberOf(operation, 'value');
  if (op !== 'remove' && value === undefined) return refuse(`${field}.value`, 'is required', 'scim_invalid_value');
  if (path !== undefined && path !== null && path !== '')
    return targeted(type, op, path, value, `${field}.path`, leniency);
  if (op === 'remove') return refuse(`${field}.path`, 'is required to remove something', 'scim_no_target');
  if (!isComplex(value)) return refuse(`${field}.value`, 'has to be an object without a path', 'scim_invalid_value');
  leniency.note('operation without path');
  return Object.entries(value).flatMap(([name, inner]) => untargeted(type, op, name, inner, field, leniency));
}

function readOp(op: unknown, field: string, leniency: Leniency): PatchOperation['op'] {
  const folded = typeof op === 'string' ? op.toLowerCase() : '';
  if (folded !== 'add' && folded !== 'replace' && folded !== 'remove')
    return refuse(field, 'has to be add, replace or remove', 'scim_invalid_syntax');
  if (folded !== op) leniency.note('op in another case');
  return folded;
}

function targeted(
  type: ScimResourceType,
  op: PatchOperation['op'],
  path: unknown,
  value: unknown,
  field: string,
  leniency: Leniency,
): PatchOperation[] {
  if (typeof path !== 'string') return refuse(field, 'has to be a text', 'scim_invalid_path');
  const target = pathOf(type, path, field);
  if (target.kind === 'unknown') {
    // Entra repeats a request that fails, for hours: an attribute mapping that nobody needs must not stop the others.
    if (leniency.profile !== 'entra') return refuse(field, target.reason, target.code);
    leniency.note('unknown attribute');
    return [];
  }
  if (target.kind === 'extension') return [{ op, path: target, value }];
  const { mutability } = target.sub?.mutability === 'readOnly' ? target.sub : target.attribute;
  if (mutability === 'readOnly') return refuse(field, 'is read-only', 'scim_mutability');
  if (mutability === 'writeOnly') {
    leniency.note('password discarded');
    return [];
  }
  return [{ op, path: target, value }];
}

/** A member of the value of an operation without a path. Okta sends `id` along with a new `displayName`. */
function untargeted(
  type: ScimResourceType,
  op: PatchOperation['op'],
  name: string,
  value: unknown,
  field: string,
  leniency: Leniency,
): PatchOperation[] {
  const isPlain = attributeNamed(attributesOf(type), name) ?? extensionNamed(type, name);
  if (!isPlain && /[.[:]/.test(name)) leniency.note('dotted attribute name');
  const path = isPlain || /[.[:]/.test(name) ? pathOf(type, name, `${field}.value`) : undefined;
  if (!path || path.kind === 'unknown') {
    leniency.note('unknown attribute');
    return [];
  }
  if (path.kind === 'attribute' && path.attribute.mutability !== 'readWrite') {
    leniency.note(path.attribute.mutability === 'writeOnly' ? 'password discarded' : 'read-only attribute');
    return [];
  }
  return [{ op, path, value }];
}

function pathOf(type: ScimResourceType, text: string, field: string): PatchPath | UnknownPath {
  try {
    return readPatchPath(type, text);
  } catch (error) {
    if (error instanceof MalformedExpression) return refuse(field, error.message, 'scim_invalid_path');
    throw error;
  }
}

/** All operations, one after the other, or none (RFC 7644 §3.5.2): the resource that was given stays as it is. */
export function applyPatch(
  type: ScimResourceType,
  resource: ScimComplex,
  operations: readonly PatchOperation[],
  leniency: Leniency,
): ScimComplex {
  const patched = operations.reduce((before, operation) => applyOperation(type, before, operation, leniency), resource);
  for (const { op, path } of operations)
    if (
      op === 'remove' &&
      path.kind === 'attribute' &&
      path.attribute.required &&
      patched[path.attribute.name] === undefined
    )
      refuse(path.attribute.name, 'is required', 'scim_mutability');
  requireAll(type, patched);
  return patched;
}
