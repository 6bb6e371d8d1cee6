import { pascalCase, singular } from './operation-id.ts';

/**
 * Gives the schemas of operations names in `components.schemas` (OP-432, decision 0092). A shape has one name, wherever it
 * occurs: that of the first operation that returns it. Operations that get one come first, then lists, then all others:
 * so `getAlert` names `Alert`, and `resolveAlert` returns it.
 */
export type JsonNode = { [key: string]: unknown };

const isNode = (value: unknown): value is JsonNode =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Words that say too little alone: the name of an enumeration begins with what it belongs to. */
const VAGUE = /^(?:status|type|kind|action|source|method|role|state|result|mode|format|level|reason|change|protocol)$/i;

export class SchemaNames {
  readonly schemas: Record<string, JsonNode> = {};
  readonly #nameOf = new Map<string, string>();
  readonly #uses = new Map<string, number>();

  /** Counts every shape first: a nested shape gets a name if it occurs twice. */
  count(node: unknown): void {
    if (Array.isArray(node)) return node.forEach((item) => this.count(item));
    if (!isNode(node)) return;
    if (isNameable(node)) {
      const shape = JSON.stringify(node);
      this.#uses.set(shape, (this.#uses.get(shape) ?? 0) + 1);
    }
    for (const child of Object.values(node)) this.count(child);
  }

  /** A reference to the shape, under its first name. */
  named(node: JsonNode, candidates: readonly string[], insideName = candidates[0]!): JsonNode {
    const shape = JSON.stringify(node);
    const known = this.#nameOf.get(shape);
    if (known !== undefined) return { $ref: `#/components/schemas/${known}` };
    const name = [...candidates, ...numbered(candidates.at(-1)!)].find((free) => !(free in this.schemas))!;
    this.#nameOf.set(shape, name);
    this.schemas[name] = {};
    this.schemas[name] = this.inside(node, insideName);
    return { $ref: `#/components/schemas/${name}` };
  }

  /** The body of a request keeps the name of its operation, even if another operation takes the same. */
  body(node: JsonNode, name: string): JsonNode {
    this.schemas[name] = this.inside(node, name);
    return { $ref: `#/components/schemas/${name}` };
  }

  /** The node, with references in place of nested shapes that have a name. */
  inside(node: JsonNode, owner: string): JsonNode {
    return Object.fromEntries(
      Object.entries(node).map(([key, value]) => [key, this.#childOf(key, value, owner)] as const),
    );
  }

  #childOf(key: string, value: unknown, owner: string): unknown {
    if (key === 'properties' && isNode(value))
      return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, this.#nested(child, owner, name)]));
    if (key === 'items') return this.#nested(value, owner, '');
    if (key === 'additionalProperties' && isNode(value)) return this.#nested(value, owner, 'value');
    if ((key === 'anyOf' || key === 'oneOf' || key === 'allOf') && Array.isArray(value))
      return value.map((option, at) =>
        this.#nested(option, owner, optionName(option, value.length > 2 ? at : undefined)),
      );
    if (key === 'prefixItems' && Array.isArray(value)) return value.map((item) => this.#nested(item, owner, 'item'));
    return value;
  }

  #nested(value: unknown, owner: string, property: string): unknown {
    if (!isNode(value)) return value;
    const known = this.#nameOf.get(JSON.stringify(value));
    if (known !== undefined) return { $ref: `#/components/schemas/${known}` };
    const own = pascalCase(property);
    const qualified = owner + (value['items'] ? singular(own) : own);
    if (!isNameable(value) || (this.#uses.get(JSON.stringify(value)) ?? 0) < 2) return this.inside(value, qualified);
    const alone = value['enum'] && own !== '' && !VAGUE.test(property) ? [own] : [];
    return this.named(value, [...titleOf(value), ...alone, qualified], qualified);
  }
}

/** A view may declare its name: `.meta({ title: 'Alert' })`. */
export const titleOf = ({ title }: JsonNode): string[] => (typeof title === 'string' ? [title] : []);

/** An object with members, or an enumeration of some length. */
const isNameable = ({ type, properties, enum: values }: JsonNode): boolean =>
  (type === 'object' && isNode(properties) && Object.keys(properties).length > 1) ||
  (Array.isArray(values) && values.length > 2);

const numbered = (name: string): string[] => Array.from({ length: 20 }, (_, at) => `${name}${at + 2}`);

/** An option of a union is named by its constant, `protocol: saml`, else by its place. */
function optionName(option: unknown, at: number | undefined): string {
  const properties = isNode(option) && isNode(option['properties']) ? Object.values(option['properties']) : [];
  const constant = properties
    .map((property) => (isNode(property) ? property['const'] : undefined))
    .find((value) => typeof value === 'string');
  return constant ?? (at === undefined ? '' : String(at + 1));
}

/** The members of lists that are not rows. */
export const isPage = ({ properties }: JsonNode): boolean =>
  isNode(properties) && ('nextCursor' in properties || 'totalPages' in properties);

/** The rows of a list: the only array of objects among its members. */
export function rowsOf({ properties }: JsonNode): string | undefined {
  const arrays = Object.entries(isNode(properties) ? properties : {}).filter(
    ([, member]) => isNode(member) && member['type'] === 'array',
  );
  return arrays.length === 1 ? arrays[0]![0] : undefined;
}
