import { appendFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { openApiDocument } from '../../src/app/http/openapi/document.ts';
import { routeGroups } from '../../src/app/http/routes/index.ts';

/**
 * `CHECK_PROMISES=1` compares every response that a test gets with the description of its operation: status, code and
 * body. A difference fails the test. Any other value is a file to which differences are appended, one per line.
 */
const SWITCH = process.env['CHECK_PROMISES'];

interface Described {
  readonly content?: Readonly<Record<string, { readonly schema?: object }>>;
  readonly 'x-codes'?: readonly string[];
  readonly $ref?: string;
}
interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, Described>>;
}
interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Codes that only listeners and the router send: they are the `default` of every operation. */
const ANYWHERE = [404, 408, 413, 414, 415, 417, 431, 500, 503];

let known: readonly (readonly [RegExp, Readonly<Record<string, Operation>>])[] | undefined;
let responses: Readonly<Record<string, Described>>;
let ajv: Ajv2020;
/** By the schema's text: many operations return the same. */
const validators = new Map<string, ValidateFunction>();
const texts = new WeakMap<object, string>();

function load() {
  const { paths, components } = openApiDocument(routeGroups) as {
    paths: Record<string, Record<string, Operation>>;
    components: { responses: Record<string, Described>; schemas: Record<string, object> };
  };
  ({ responses } = components);
  ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false });
  ajv.addSchema({ $id: 'api', components: { schemas: closedSchema(components.schemas) } });
  // Fixed paths win over those with parameters.
  known = Object.entries(paths)
    .sort(([one], [other]) => Number(one.includes('{')) - Number(other.includes('{')))
    .map(([path, methods]) => [
      new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}/?$`),
      methods,
    ]);
  return known;
}

export function operationAt(method: string, path: string): Operation | undefined {
  const plain = path.split('?')[0]!;
  const verb = method.toLowerCase();
  return (known ?? load()).find(([pattern, methods]) => pattern.test(plain) && methods[verb])?.[1][verb];
}

/** The parameters in the path, by name. */
export function operationPath(method: string, path: string): Readonly<Record<string, string>> {
  const verb = method.toLowerCase();
  const pattern = (known ?? load()).find(([one, methods]) => one.test(path) && methods[verb])?.[0];
  return { ...pattern?.exec(path)?.groups };
}

const within = (schema: string): object =>
  JSON.parse(schema.replaceAll('"#/components/', '"api#/components/')) as object;

/** Clients must ignore members that they do not know (OP-018), so the description leaves objects open. A test does not. */
export function closedSchema(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closedSchema);
  if (typeof node !== 'object' || node === null) return node;
  const { type, properties } = node as { type?: unknown; properties?: unknown };
  const isClosed = type === 'object' && properties !== undefined && !('additionalProperties' in node);
  const inside = Object.fromEntries(Object.entries(node).map(([key, child]) => [key, closedSchema(child)]));
  return isClosed ? { ...inside, additionalProperties: false } : inside;
}

function validatorOf(schema: object): ValidateFunction {
  let text = texts.get(schema);
  if (text === undefined) texts.set(schema, (text = JSON.stringify(schema)));
  let validator = validators.get(text);
  if (!validator) validators.set(text, (validator = ajv.compile(within(text))));
  return validator;
}

/** What the response does that its operation does not promise; undefined if nothing. */
export function brokenPromise({ responses: described }: Operation, { status, headers, body }: Received) {
  const found = described[String(status)] ?? (ANYWHERE.includes(status) ? described['default'] : undefined);
  const code = (body as { code?: unknown } | undefined)?.code;
  if (!found) return `status ${status} is not described${code === undefined ? '' : `: ${String(code)}`}`;
  const { content, 'x-codes': codes } = found.$ref ? responses[found.$ref.split('/').at(-1)!]! : found;
  if (codes && typeof code === 'string' && !codes.includes(code)) return `${status} is not described for ${code}`;
  const isJson = /\bjson\b/.test(headers.get('content-type') ?? '');
  const schema = isJson ? content?.['application/json']?.schema : undefined;
  if (!schema || body === undefined) return undefined;
  const validate = validatorOf(schema);
  if (validate(body)) return undefined;
  const [first] = validate.errors ?? [];
  return `${status}: ${first?.instancePath} ${first?.message} ${JSON.stringify(first?.params)}`;
}

export function checkPromise(method: string, path: string, received: Received): void {
  if (SWITCH === undefined) return;
  const operation = operationAt(method, path);
  const broken = operation && brokenPromise(operation, received);
  if (!broken) return;
  const line = `${operation.operationId}: ${broken}`;
  if (SWITCH !== '1') return appendFileSync(SWITCH, `${line}\n`);
  throw new Error(`the description of the API does not say what ${line}`);
}
