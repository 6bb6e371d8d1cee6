import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { openApiDocument } from '../../src/app/http/openapi/document.ts';
import { routeGroups } from '../../src/app/http/routes/index.ts';
import type { RecordedExample } from './example-score.ts';
import { closedSchema } from './promised-bodies.ts';
import { isSecretName, placeholder } from './sanitized-exchange.ts';

type Content = Readonly<Record<string, { readonly schema?: object }>>;
interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name?: string }[];
  readonly requestBody?: { readonly content: Content; readonly required?: boolean };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

const { paths, components } = openApiDocument(routeGroups) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};
/** By id. */
export const describedOperations: ReadonlyMap<string, Operation> = new Map(
  Object.values(paths).flatMap((methods) => Object.values(methods).map((one) => [one.operationId, one] as const)),
);

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: 'api', components: { schemas: closedSchema(components.schemas) } });
const validators = new Map<object, ValidateFunction>();

function problemOf(what: string, schema: object, value: unknown): string[] {
  let validate = validators.get(schema);
  if (!validate) {
    const closed = JSON.stringify(closedSchema(schema)).replaceAll('"#/components/', '"api#/components/');
    validators.set(schema, (validate = ajv.compile(JSON.parse(closed) as object)));
  }
  if (validate(value)) return [];
  const [first] = validate.errors ?? [];
  return [`${what}${first?.instancePath} ${first?.message} ${JSON.stringify(first?.params)}`];
}

const schemaOf = (content: Content | undefined): object | undefined => Object.values(content ?? {})[0]?.schema;

/** The first response is the success that the route declares. */
const successOf = ({ responses }: Operation) => Object.entries(responses)[0]!;

/** Text or JSON: other media types are files. */
const isReadable = (content: Content | undefined): boolean =>
  Object.keys(content ?? {}).some((media) => /json|^text\//.test(media));

const isNeeded = (operation: Operation) => ({
  request: operation.requestBody?.required === true,
  response: isReadable(successOf(operation)[1].content),
});

/** What an example has to be: complete, and valid for the operation as it is described. */
export function exampleProblems(operationId: string, example: RecordedExample): string[] {
  const operation = describedOperations.get(operationId);
  if (!operation) return ['there is no such operation'];
  const [status, success] = successOf(operation);
  const needed = isNeeded(operation);
  const { request, response } = example;
  const body = schemaOf(operation.requestBody?.content);
  const answer = schemaOf(success.content);
  return [
    ...(String(example.status) === status ? [] : [`the status is not ${status}`]),
    ...(needed.request && request === undefined ? ['has no request'] : []),
    ...(needed.response && response === undefined ? ['has no response'] : []),
    ...(body && request !== undefined ? problemOf('request', body, request) : []),
    ...(answer && response !== undefined ? problemOf('response', answer, response) : []),
    ...secretsLeft(example),
  ];
}

/** Operations that need an example and have none. */
export const missingExamples = (examples: Readonly<Record<string, RecordedExample>>): string[] =>
  [...describedOperations.values()]
    .filter((operation) => Object.values(isNeeded(operation)).includes(true))
    .map(({ operationId }) => operationId)
    .filter((operationId) => examples[operationId] === undefined)
    .sort();

const REAL: readonly RegExp[] = [
  /eyJ[\w-]{8,}/,
  /-----BEGIN [A-Z0-9 ]+-----\s*(?!\s*EXAMPLE)/,
  /Correct-Horse/,
  /127\.0\.0\.1:\d/,
  /otpauth:(?!\/\/totp\/Castellan\?secret=EXAMPLEEXAMPLE)/,
  /data:image\/png;base64,(?!iVBORw0KGgo=$)/,
];
const LONG_RUN = /[\w+]{24,}/g;
const isPlaceholder = (run: string): boolean =>
  /^(?:EXAMPLE|example)+[EXAMPLexample]*$/.test(run) ||
  /^(?:0123456789abcdef)+[0-9a-f]*$/.test(run) ||
  /^[0-9]+$/.test(run);

/** Texts that are, or could be, real secrets: what the recorder has not replaced. */
export function secretsLeft(value: unknown, name = ''): string[] {
  if (typeof value === 'string') {
    const isReplaced = !isSecretName(name) || value === '' || value === placeholder(name, value);
    const found = REAL.some((pattern) => pattern.test(value)) || !isReplaced;
    const random = [...value.matchAll(LONG_RUN)].some(
      ([run]) =>
        !isPlaceholder(run) && /\d/.test(run) && /[A-Z]/.test(run) && /[a-z]/.test(run) && !/^[A-Za-z]+\d?$/.test(run),
    );
    return found || random ? [`${name} may hold a secret`] : [];
  }
  if (Array.isArray(value)) return value.flatMap((item) => secretsLeft(item, name));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => secretsLeft(child, key));
}
