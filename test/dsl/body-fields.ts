/** A JSON Schema, as far as the fields of a request are concerned. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
}

/** One field of a request, in one branch of its unions. */
export interface BodyField {
  /** Names and indexes, joined by dots, as refusals name fields. */
  readonly name: string;
  readonly schema: JsonSchema;
  /** A body with this value in the field, and the constants that choose the field's branch. Nothing else is in it. */
  holding(value: unknown): unknown;
}

const DEEPEST = 8;

/** Every field at any depth, in every branch of `oneOf` and `anyOf`. */
export function bodyFields(schema: JsonSchema | undefined, resolve: (ref: string) => JsonSchema): BodyField[] {
  const walk = (node: JsonSchema | undefined, depth: number): BodyField[] => {
    if (!node || depth > DEEPEST) return [];
    if (node.$ref !== undefined) return walk(resolve(node.$ref), depth);
    const branches = [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])];
    return [
      ...branches.flatMap((branch) => walk(branch, depth + 1)),
      ...Object.entries(node.properties ?? {}).flatMap(([name, child]) => {
        const constants = constantsOf(node, resolve);
        const within = (value: unknown) => ({ ...constants, [name]: value });
        return [{ name, schema: child, holding: within }, ...below(name, walk(child, depth + 1), within)];
      }),
      ...below('0', walk(node.items, depth + 1), (value) => [value]),
    ];
  };
  return walk(schema, 0);
}

const below = (name: string, fields: readonly BodyField[], within: (value: unknown) => unknown): BodyField[] =>
  fields.map((field) => ({
    ...field,
    name: `${name}.${field.name}`,
    holding: (value) => within(field.holding(value)),
  }));

function constantsOf({ properties = {} }: JsonSchema, resolve: (ref: string) => JsonSchema) {
  const valueOf = (child: JsonSchema) => (child.$ref === undefined ? child : resolve(child.$ref)).const;
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, child]) =>
      valueOf(child) === undefined ? [] : [[name, valueOf(child)]],
    ),
  );
}

/** True for an address, also one that may be `null`. */
export const isAddress = (schema: JsonSchema): boolean =>
  schema.format === 'uri' || (schema.anyOf ?? []).some((branch) => branch.format === 'uri');
