import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { openApiDocument } from '../../src/app/http/openapi/document.ts';
import { routeGroups } from '../../src/app/http/routes/index.ts';

let ajv: Ajv2020 | undefined;
/** By the schema's text: many operations return the same. */
const validators = new Map<string, ValidateFunction>();
const texts = new WeakMap<object, string>();

/** Clients must ignore members that they do not know (OP-018), so the description leaves objects open. A test does not. */
export function closedSchema(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closedSchema);
  if (typeof node !== 'object' || node === null) return node;
  const { type, properties } = node as { type?: unknown; properties?: unknown };
  const isClosed = type === 'object' && properties !== undefined && !('additionalProperties' in node);
  const inside = Object.fromEntries(Object.entries(node).map(([key, child]) => [key, closedSchema(child)]));
  return isClosed ? { ...inside, additionalProperties: false } : inside;
}

function allSchemas(): Ajv2020 {
  const { components } = openApiDocument(routeGroups) as { components: { schemas: Record<string, object> } };
  const all = new Ajv2020({ strict: false, validateFormats: false, allErrors: false });
  return all.addSchema({ $id: 'api', components: { schemas: closedSchema(components.schemas) } });
}

const within = (schema: string): object =>
  JSON.parse(schema.replaceAll('"#/components/', '"api#/components/')) as object;

function validatorOf(schema: object): ValidateFunction {
  let text = texts.get(schema);
  if (text === undefined) texts.set(schema, (text = JSON.stringify(schema)));
  let validator = validators.get(text);
  if (!validator) validators.set(text, (validator = (ajv ??= allSchemas()).compile(within(text))));
  return validator;
}

/** Where and how a body is not what its schema says; undefined if it is. */
export function brokenBody(schema: object, body: unknown): string | undefined {
  const validate = validatorOf(schema);
  if (validate(body)) return undefined;
  const [first] = validate.errors ?? [];
  return `${first?.instancePath} ${first?.message} ${JSON.stringify(first?.params)}`;
}
