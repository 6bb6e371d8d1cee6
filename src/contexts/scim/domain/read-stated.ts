import { FailureError } from '../../../platform/kernel/failure.ts';
import { applyOperation } from './apply-operation.ts';
import { MalformedExpression } from './filter.ts';
import type { Leniency } from './normalization.ts';
import { isComplex, isIgnored, readNamed, refuse, requireAll, type ScimComplex } from './read-resource.ts';
import { readPatchPath, type PatchPath } from './resolve-path.ts';
import { attributeNamed, attributesOf, extensionNamed, type ScimResourceType } from './schema.ts';

type Target = Extract<PatchPath, { kind: 'attribute' }>;

/**
 * The resource of a POST or PUT. Members by a path (`name.givenName`, `urn:…:User:department`) are added to those by
 * name, as a PATCH would add them (decision 0107).
 */
export function readStated(type: ScimResourceType, body: unknown, leniency: Leniency): ScimComplex {
  if (!isComplex(body)) return refuse('body', 'has to be a resource', 'scim_invalid_syntax');
  const isPath = ([name]: [string, unknown]) =>
    /[.[:]/.test(name) && !attributeNamed(attributesOf(type), name) && !extensionNamed(type, name);
  const members = Object.entries(body);
  const named = Object.fromEntries(members.filter((each) => !isPath(each)));
  const resource = members
    .filter(isPath)
    .reduce(
      (before, [name, value]) => withMember(type, before, { name, value }, leniency),
      readNamed(type, named, leniency),
    );
  requireAll(type, resource);
  return resource;
}

function withMember(
  type: ScimResourceType,
  resource: ScimComplex,
  { name, value }: { readonly name: string; readonly value: unknown },
  leniency: Leniency,
): ScimComplex {
  const path = targetOf(type, name);
  if (!path) {
    leniency.note('unknown attribute');
    return resource;
  }
  leniency.note('dotted attribute name');
  if (isIgnored(path.attribute, leniency) || (path.sub && isIgnored(path.sub, leniency))) return resource;
  if (isStated(resource, path)) refuse(name, 'is given twice', 'scim_invalid_syntax');
  try {
    return applyOperation(type, resource, { op: 'add', path, value }, leniency);
  } catch (error) {
    // A filter in a name can choose no value, or be none of this attribute.
    if (!(error instanceof FailureError) || path.where === undefined) throw error;
    return refuse(name, 'cannot be set', 'scim_invalid_value');
  }
}

function targetOf(type: ScimResourceType, name: string): Target | undefined {
  try {
    const path = readPatchPath(type, name);
    return path?.kind === 'attribute' ? path : undefined;
  } catch (error) {
    if (error instanceof MalformedExpression) return undefined;
    throw error;
  }
}

/** Whether the resource has what this path names. Values behind a filter, and those of a whole list, are added. */
function isStated(resource: ScimComplex, { extension, attribute, sub, where }: Target): boolean {
  const holder = extension === undefined ? resource : resource[extension];
  const before = isComplex(holder) ? holder[attribute.name] : undefined;
  if (before === undefined || where) return false;
  if (!sub) return !attribute.multiValued;
  const values: readonly unknown[] = Array.isArray(before) ? before : [before];
  return values.some((each) => isComplex(each) && each[sub.name] !== undefined);
}
