import { appendFileSync } from 'node:fs';
import { openApiDocument } from '../../src/app/http/openapi/document.ts';
import { securityHeaders } from '../../src/app/http/plugins/security-headers.ts';
import { routeGroups } from '../../src/app/http/routes/index.ts';
import { brokenBody } from './promised-bodies.ts';

/**
 * Every response that a test gets is compared with the description of its operation: a status, code or header that is not
 * described fails the test. `CHECK_PROMISES=1` compares bodies with their schemas, too, which costs a fifth of a run. Any
 * other value is a file to which all differences are appended, one per line.
 */
const SWITCH = process.env['CHECK_PROMISES'];

interface Described {
  readonly headers?: Readonly<Record<string, object>>;
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

type Paths = readonly (readonly [RegExp, Readonly<Record<string, Operation>>])[];
let known: { readonly paths: Paths; readonly responses: Readonly<Record<string, Described>> } | undefined;

function described() {
  if (known) return known;
  const { paths, components } = openApiDocument(routeGroups) as {
    paths: Record<string, Record<string, Operation>>;
    components: { responses: Record<string, Described> };
  };
  known = {
    responses: components.responses,
    // Fixed paths win over those with parameters.
    paths: Object.entries(paths)
      .sort(([one], [other]) => Number(one.includes('{')) - Number(other.includes('{')))
      .map(([path, methods]) => [
        new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}/?$`),
        methods,
      ]),
  };
  return known;
}

export function operationAt(method: string, path: string): Operation | undefined {
  // As clients send it: they resolve `..`, also in percent-encoded form.
  const plain = new URL(path, 'http://service.test').pathname;
  const verb = method.toLowerCase();
  return described().paths.find(([pattern]) => pattern.test(plain))?.[1][verb];
}

/** The parameters in the path, by name. */
export function operationPath(method: string, path: string): Readonly<Record<string, string>> {
  const verb = method.toLowerCase();
  const pattern = described().paths.find(([one, methods]) => methods[verb] && one.test(path))?.[0];
  return { ...pattern?.exec(path)?.groups };
}

/**
 * What any response may have: HTTP itself, what browsers are told for their safety, and what a proxy in between adds.
 */
const UNSAID: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'server',
  'transfer-encoding',
  'vary',
  'via',
  ...securityHeaders.map(([name]) => name),
]);

function undescribedHeaders(headers: Headers, { headers: promised = {} }: Described): string[] {
  const known = new Set(Object.keys(promised).map((name) => name.toLowerCase()));
  return [...headers.keys()].filter(
    (name) => !known.has(name) && !UNSAID.has(name) && !name.startsWith('access-control-'),
  );
}

/** What the response does that its operation does not promise; undefined if nothing. */
export function brokenPromise(operation: Operation, { status, headers, body }: Received, withBodies: boolean) {
  const { responses } = operation;
  const found = responses[String(status)] ?? (ANYWHERE.includes(status) ? responses['default'] : undefined);
  const code = (body as { code?: unknown } | undefined)?.code;
  if (!found) return `status ${status} is not described${code === undefined ? '' : `: ${String(code)}`}`;
  const shown = found.$ref ? described().responses[found.$ref.split('/').at(-1)!]! : found;
  const { content, 'x-codes': codes } = shown;
  const hidden = undescribedHeaders(headers, shown);
  if (hidden.length > 0) return `${status} is not described with ${hidden.join(', ')}`;
  if (codes && typeof code === 'string' && !codes.includes(code)) return `${status} is not described for ${code}`;
  const isJson = /\bjson\b/.test(headers.get('content-type') ?? '');
  const schema = withBodies && isJson ? content?.['application/json']?.schema : undefined;
  const wrong = schema && body !== undefined ? brokenBody(schema, body) : undefined;
  return wrong && `${status}: ${wrong}`;
}

export function checkPromise(method: string, path: string, received: Received): void {
  const operation = operationAt(method, path);
  const broken = operation && brokenPromise(operation, received, SWITCH !== undefined);
  if (!broken) return;
  const line = `${operation.operationId}: ${broken}`;
  if (SWITCH !== undefined && SWITCH !== '1') return appendFileSync(SWITCH, `${line}\n`);
  throw new Error(`the description of the API does not say what ${line}`);
}
