import recorded from './examples.json' with { type: 'json' };

/** An exchange of the test suite, without secrets. `scripts/record-examples.ts` records them. */
interface Example {
  readonly status: number;
  /** Values of parameters, by name. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly request?: unknown;
  readonly response?: unknown;
}

type Content = Readonly<Record<string, object>>;
interface Parameter {
  readonly name?: string;
  readonly schema?: { readonly type?: unknown };
}
interface ExemplifiedOperation {
  readonly operationId: string;
  parameters: readonly Parameter[];
  requestBody?: { readonly content: Content };
  responses: Readonly<Record<string, { readonly content?: Content }>>;
}

/** By the id of the operation. */
export const examples = recorded as Readonly<Record<string, Example>>;

/** Without SCIM's `$ref` (RFC 7643 §2.4): readers of a description take it for a reference, and fetch its address. */
function withoutReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutReferences);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== '$ref')
      .map(([name, member]) => [name, withoutReferences(member)]),
  );
}

/** One exchange has one media type, and the operation may have several: text is no example of JSON, nor data one of a file. */
const isExampleOf = (media: string, example: unknown): boolean =>
  typeof example === 'string' ? !/\bjson\b/.test(media) : !/^text\/|zip$/.test(media);

const withExample = (content: Content, example: unknown): Content =>
  Object.fromEntries(
    Object.entries(content).map(([media, described]) => [
      media,
      isExampleOf(media, example) ? { ...described, example: withoutReferences(example) } : described,
    ]),
  );

/** A parameter's value was text on the wire. */
function valueOf(text: string, { type }: { readonly type?: unknown }): unknown {
  if (type === 'integer' || type === 'number') return Number(text);
  return type === 'boolean' ? text === 'true' : text;
}

const withValue = (parameter: Parameter, values: Readonly<Record<string, string>>): Parameter => {
  const value = parameter.name === undefined ? undefined : values[parameter.name];
  return value === undefined
    ? parameter
    : ({ ...parameter, example: valueOf(value, parameter.schema ?? {}) } as object);
};

/** Adds what was exchanged to the description of an operation. */
export function exemplify(operation: ExemplifiedOperation): void {
  const example = examples[operation.operationId];
  if (!example) return;
  const { status, parameters = {}, request, response } = example;
  operation.parameters = operation.parameters.map((parameter) => withValue(parameter, parameters));
  const { requestBody, responses } = operation;
  if (requestBody && request !== undefined)
    operation.requestBody = { ...requestBody, content: withExample(requestBody.content, request) };
  const success = responses[status];
  if (success?.content && response !== undefined)
    operation.responses = { ...responses, [status]: { ...success, content: withExample(success.content, response) } };
}
