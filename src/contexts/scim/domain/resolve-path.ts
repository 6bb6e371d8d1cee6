import {
  attributePath,
  ExpressionReader,
  MalformedExpression,
  tokensOf,
  type AttributePath,
  type Filter,
} from './filter.ts';
import { attributeNamed, attributesOf, extensionNamed, type ScimAttribute, type ScimResourceType } from './schema.ts';

/** An attribute of a resource type: of the core, or of an extension. */
export interface ResolvedPath {
  /** The extension that holds it; undefined: the core. */
  readonly extension: string | undefined;
  readonly attribute: ScimAttribute;
  readonly sub: ScimAttribute | undefined;
}

/** Where a PATCH operation applies (RFC 7644 §3.5.2). */
export type PatchPath =
  | { readonly kind: 'extension'; readonly extension: string }
  | ({ readonly kind: 'attribute'; readonly where: Filter | undefined } & ResolvedPath);

export interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: PatchPath;
  readonly value: unknown;
}

/** The attribute that a path means, in any case; undefined if the schemas have none. */
export function resolvePath(
  type: ScimResourceType,
  { urn, attribute: name, sub: subName }: AttributePath,
): ResolvedPath | undefined {
  const isCore = urn === undefined || urn.toLowerCase() === type.schema.id.toLowerCase();
  const extension = isCore ? undefined : extensionNamed(type, urn);
  if (!isCore && !extension) return undefined;
  const attribute = attributeNamed(extension ? extension.attributes : attributesOf(type), name);
  const sub = subName === undefined ? undefined : attributeNamed(attribute?.subAttributes ?? [], subName);
  if (!attribute || (subName !== undefined && !sub)) return undefined;
  return { extension: extension?.id, attribute, sub };
}

/** The schemas have no such attribute, or no such sub-attribute for the filter behind it (RFC 7644 §3.12). */
export interface UnknownPath {
  readonly kind: 'unknown';
  readonly reason: string;
  readonly code: 'scim_invalid_path' | 'scim_invalid_filter';
}

const UNKNOWN: UnknownPath = { kind: 'unknown', reason: 'names no attribute', code: 'scim_invalid_path' };
const unknownFilter = ({ name }: ScimAttribute): UnknownPath => ({
  kind: 'unknown',
  reason: `has a filter on what ${name} does not have`,
  code: 'scim_invalid_filter',
});

/** Throws `MalformedExpression`. */
export function readPatchPath(type: ScimResourceType, text: string): PatchPath | UnknownPath {
  const extension = extensionNamed(type, text);
  if (extension) return { kind: 'extension', extension: extension.id };
  const reader = new ExpressionReader(tokensOf(text));
  const path = reader.path();
  let where: Filter | undefined;
  let sub = path.sub;
  if (reader.next.text === '[') {
    if (sub !== undefined) throw new MalformedExpression('has a filter behind a sub-attribute');
    reader.take('[');
    where = reader.or();
    reader.take(']');
    if (reader.next.kind === 'sub') sub = attributePath(reader.take().text.slice(1)).attribute;
  }
  reader.end();
  const resolved = resolvePath(type, { ...path, sub });
  if (!resolved) return UNKNOWN;
  if (where && !isAbout(resolved.attribute, where)) return unknownFilter(resolved.attribute);
  return { kind: 'attribute', where, ...resolved };
}

/** Whether every condition is on a sub-attribute of the values. Any other one would choose no value, whatever they are. */
function isAbout(attribute: ScimAttribute, where: Filter): boolean {
  if ('filters' in where) return where.filters.every((each) => isAbout(attribute, each));
  if (where.op === 'not') return isAbout(attribute, where.filter);
  if (where.op === 'some' || where.path.sub !== undefined || where.path.urn !== undefined) return false;
  // A filter behind a single value is a mistake of the path, which whoever applies it says.
  return !attribute.multiValued || attributeNamed(attribute.subAttributes ?? [], where.path.attribute) !== undefined;
}
