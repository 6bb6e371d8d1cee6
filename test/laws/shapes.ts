import { canonicalJson } from '../../src/platform/kernel/canonical-json.ts';

/** JSON Schema, as far as event schemas use it. */
export type Shape = Readonly<Record<string, unknown>>;

const LOWER = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
const UPPER = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];
/** Keywords that constrain a value; compared literally. */
const RULES = ['pattern', 'format', 'multipleOf', 'contentEncoding', 'allOf', 'not', '$ref'];

const shapesOf = (value: unknown): readonly Shape[] => (Array.isArray(value) ? (value as Shape[]) : []);

/** The alternatives of a shape: each member of a union, of a list of types, and of an enumeration. */
function alternatives(shape: Shape): readonly Shape[] {
  const { anyOf, oneOf, enum: members, type, ...rest } = shape;
  if (anyOf ?? oneOf) return [...shapesOf(anyOf), ...shapesOf(oneOf)].flatMap(alternatives);
  if (Array.isArray(members)) return members.map((member: unknown) => ({ const: member }));
  if (Array.isArray(type)) return type.map((one: unknown) => ({ ...rest, type: one }));
  return [shape];
}

/** What the previous shape accepted and the current one may not, in words; empty if it accepts at least as much. */
export function narrowings(before: Shape, now: Shape, path = 'data'): string[] {
  const present = alternatives(now);
  return alternatives(before).flatMap((former) => {
    const found = present.map((one) => ofOne(former, one, path));
    if (found.some((problems) => problems.length === 0)) return [];
    // The nearest alternative gives the best explanation.
    return found.toSorted((a, b) => a.length - b.length)[0] ?? [`${path} takes nothing`];
  });
}

function ofOne(before: Shape, now: Shape, path: string): string[] {
  if (accepts(now, before)) return [];
  if ('const' in now) return [`${path} takes only ${canonicalJson(now['const'])}, and took ${brief(before)}`];
  if ('const' in before) return [`${path} took ${canonicalJson(before['const'])}`];
  if (now['type'] !== undefined && now['type'] !== before['type'] && !isInteger(before, now))
    return [`${path} was ${String(before['type'] ?? 'anything')} and is ${String(now['type'])}`];
  return [...limits(before, now, path), ...rules(before, now, path), ...inside(before, now, path)];
}

const brief = (shape: Shape): string =>
  'const' in shape ? canonicalJson(shape['const']) : String(shape['type'] ?? 'anything');
const isInteger = (before: Shape, now: Shape): boolean => before['type'] === 'integer' && now['type'] === 'number';
const PLAIN = new Set(['type', '$schema']);

/** Without looking inside: accepts anything, the same constant, or any text or number in place of a constant. */
function accepts(now: Shape, before: Shape): boolean {
  const demands = Object.keys(now).filter((name) => name !== '$schema');
  if (demands.length === 0) return true;
  if (!('const' in before)) return false;
  const { const: value } = before;
  if ('const' in now) return canonicalJson(value) === canonicalJson(now['const']);
  return demands.every((name) => PLAIN.has(name)) && now['type'] === (value === null ? 'null' : typeof value);
}

function limits(before: Shape, now: Shape, path: string): string[] {
  const stricter = (name: string, sign: number) => {
    const [was, is] = [before[name], now[name]] as [number | undefined, number | undefined];
    return is !== undefined && (was === undefined || sign * is > sign * was);
  };
  return [...LOWER.filter((name) => stricter(name, 1)), ...UPPER.filter((name) => stricter(name, -1))].map(
    (name) => `${path} has ${name} ${String(now[name])}, and had ${String(before[name] ?? 'none')}`,
  );
}

const rules = (before: Shape, now: Shape, path: string): string[] =>
  RULES.filter((name) => now[name] !== undefined && canonicalJson(now[name]) !== canonicalJson(before[name])).map(
    (name) => `${path} has another ${name}`,
  );

function inside(before: Shape, now: Shape, path: string): string[] {
  const [fields, former] = [now, before].map((one) => (one['properties'] ?? {}) as Record<string, Shape>) as [
    Record<string, Shape>,
    Record<string, Shape>,
  ];
  const [required, wasRequired] = [now, before].map((one) => (one['required'] ?? []) as string[]) as [
    string[],
    string[],
  ];
  const isClosed = now['additionalProperties'] === false;
  const wasClosed = before['additionalProperties'] === false;
  return [
    ...required.filter((name) => !wasRequired.includes(name)).map((name) => `${path}.${name} is required now`),
    ...(isClosed && !wasClosed ? [`${path} takes no other fields now`] : []),
    ...Object.keys(former).flatMap((name) =>
      fields[name]
        ? narrowings(former[name]!, fields[name], `${path}.${name}`)
        : isClosed
          ? [`${path}.${name} is refused now`]
          : [],
    ),
    ...member('items', before, now, `${path}[]`),
    ...member('additionalProperties', before, now, `${path}.*`),
    ...member('propertyNames', before, now, `${path} (names)`),
    ...tuple(before, now, path),
  ];
}

function member(name: string, before: Shape, now: Shape, path: string): string[] {
  const is = now[name];
  if (is === null || typeof is !== 'object') return [];
  const was = before[name];
  return narrowings(was !== null && typeof was === 'object' ? (was as Shape) : {}, is as Shape, path);
}

function tuple(before: Shape, now: Shape, path: string): string[] {
  if (now['prefixItems'] === undefined) return [];
  const [is, was] = [shapesOf(now['prefixItems']), shapesOf(before['prefixItems'])];
  return is.flatMap((one, at) => narrowings(was[at] ?? {}, one, `${path}[${at}]`));
}
