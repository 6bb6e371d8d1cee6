import { attributePath, MalformedExpression } from './filter.ts';
import { isComplex, type ScimComplex, type ScimValue } from './read-resource.ts';
import { resolvePath, type ResolvedPath } from './resolve-path.ts';
import { attributesOf, extensionNamed, type ScimResourceType } from './schema.ts';

/** Which attributes a response shows (RFC 7644 §3.9). Names that no schema has select nothing. */
export interface Selection {
  /** The request names the attributes to show. */
  readonly isExplicit: boolean;
  /** True if the attribute is not shown, so that it need not be loaded. */
  hides(name: string): boolean;
  apply(resource: ScimComplex): ScimComplex;
}

const everything: Selection = { isExplicit: false, hides: () => false, apply: (resource) => resource };

/** A path, or a whole extension. */
type Selected = ResolvedPath | { readonly extension: string; readonly attribute?: undefined; readonly sub?: undefined };

function selectedOf(type: ScimResourceType, names: readonly string[]): Selected[] {
  return names.flatMap((name): Selected[] => {
    const extension = extensionNamed(type, name);
    if (extension) return [{ extension: extension.id }];
    try {
      return [resolvePath(type, attributePath(name)) ?? []].flat();
    } catch (error) {
      if (error instanceof MalformedExpression) return [];
      throw error;
    }
  });
}

/** `id` and `schemas` are always shown. `attributes` takes precedence over `excludedAttributes`. */
export function selectionOf(
  type: ScimResourceType,
  { attributes, excludedAttributes }: { attributes: readonly string[]; excludedAttributes: readonly string[] },
): Selection {
  if (attributes.length > 0) return only(type, selectedOf(type, attributes));
  return excludedAttributes.length > 0 ? without(type, selectedOf(type, excludedAttributes)) : everything;
}

const isAlways = (type: ScimResourceType, name: string): boolean =>
  attributesOf(type).some((each) => each.name === name && each.returned === 'always');

function only(type: ScimResourceType, selected: readonly Selected[]): Selection {
  const shows = (name: string) =>
    isAlways(type, name) || selected.some((each) => (each.extension ?? each.attribute?.name) === name);
  const part = (name: string, value: ScimValue): ScimValue | undefined => {
    if (isAlways(type, name)) return value;
    const extension = extensionNamed(type, name)?.id;
    const here = selected.filter((each) =>
      extension ? each.extension === extension : each.attribute?.name === name && !each.extension,
    );
    if (here.length === 0) return undefined;
    if (here.some((each) => (extension ? !each.attribute : !each.sub))) return value;
    if (!extension)
      return picked(
        value,
        here.map(({ sub }) => sub!.name),
      );
    return filled(
      Object.entries(value as ScimComplex).map(([inner, each]) => {
        const subs = here.filter(({ attribute }) => attribute!.name === inner);
        if (subs.length === 0) return [inner, undefined];
        return [
          inner,
          subs.some(({ sub }) => !sub)
            ? each
            : picked(
                each,
                subs.map(({ sub }) => sub!.name),
              ),
        ];
      }),
    );
  };
  return { isExplicit: true, hides: (name) => !shows(name), apply: (resource) => mapped(resource, part) };
}

function without(type: ScimResourceType, selected: readonly Selected[]): Selection {
  const hides = (name: string) =>
    !isAlways(type, name) &&
    selected.some((each) =>
      each.attribute ? !each.extension && !each.sub && each.attribute.name === name : each.extension === name,
    );
  const part = (name: string, value: ScimValue): ScimValue | undefined => {
    if (isAlways(type, name)) return value;
    if (hides(name)) return undefined;
    const extension = extensionNamed(type, name)?.id;
    const here = selected.filter(
      (each) => each.attribute && (extension ? each.extension === extension : !each.extension),
    );
    if (!extension)
      return dropped(
        value,
        here.flatMap(({ attribute, sub }) => (attribute!.name === name && sub ? [sub.name] : [])),
      );
    return filled(
      Object.entries(value as ScimComplex).map(([inner, each]) => {
        const about = here.filter(({ attribute }) => attribute!.name === inner);
        if (about.some(({ sub }) => !sub)) return [inner, undefined];
        return [
          inner,
          dropped(
            each,
            about.map(({ sub }) => sub!.name),
          ),
        ];
      }),
    );
  };
  return { isExplicit: false, hides, apply: (resource) => mapped(resource, part) };
}

const filled = (entries: readonly (readonly [string, ScimValue | undefined])[]): ScimComplex | undefined => {
  const kept = entries.filter(([, value]) => value !== undefined) as [string, ScimValue][];
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
};

const mapped = (resource: ScimComplex, part: (name: string, value: ScimValue) => ScimValue | undefined): ScimComplex =>
  filled(Object.entries(resource).map(([name, value]) => [name, part(name, value)])) ?? {};

const eachOf = (value: ScimValue, change: (one: ScimComplex) => ScimValue | undefined): ScimValue | undefined => {
  if (!Array.isArray(value)) return isComplex(value) ? change(value as ScimComplex) : value;
  const kept = (value as readonly ScimComplex[]).flatMap((one) => change(one) ?? []);
  return kept.length === 0 ? undefined : kept;
};

const picked = (value: ScimValue, names: readonly string[]): ScimValue | undefined =>
  eachOf(value, (one) => filled(Object.entries(one).filter(([name]) => names.includes(name))));
const dropped = (value: ScimValue, names: readonly string[]): ScimValue | undefined =>
  names.length === 0
    ? value
    : eachOf(value, (one) => filled(Object.entries(one).filter(([name]) => !names.includes(name))));
