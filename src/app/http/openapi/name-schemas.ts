import { pascalCase, singular } from './operation-id.ts';
import { isPage, rowsOf, SchemaNames, titleOf, type JsonNode } from './schema-names.ts';

/** The part of an operation that holds schemas. */
export interface DescribedOperation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: MediaTypes };
  readonly responses: Readonly<Record<string, { readonly content?: MediaTypes }>>;
}
type MediaTypes = Readonly<Record<string, { schema?: JsonNode }>>;

const nounOf = (operationId: string): string => operationId.replace(/^[a-z]+/, '');

/** Whose result names a shape that several operations return. */
const rank = ({ operationId }: DescribedOperation): number => {
  const plural = nounOf(operationId) !== singular(nounOf(operationId));
  if (/^get[A-Z]/.test(operationId)) return plural ? 1 : 0;
  return operationId.startsWith('list') ? 2 : 3;
};

const isReference = (node: JsonNode): boolean => '$ref' in node;

/** Moves the schemas of bodies and results to `components.schemas`, under names that follow from the operation. */
export function nameSchemas(operations: readonly DescribedOperation[]): Record<string, JsonNode> {
  const names = new SchemaNames();
  const all = operations.flatMap((operation) => [...bodies(operation), ...results(operation)]);
  for (const { schema } of all) names.count(schema);
  for (const operation of operations.toSorted((one, other) => rank(one) - rank(other)))
    for (const media of results(operation)) media.schema = resultOf(names, operation.operationId, media.schema!);
  for (const operation of operations) {
    const name = `${pascalCase(operation.operationId)}Request`;
    for (const media of bodies(operation)) media.schema = names.body(media.schema!, name);
  }
  return names.schemas;
}

const schemasIn = (content: MediaTypes | undefined) =>
  Object.values(content ?? {}).filter(({ schema }) => schema !== undefined && !isReference(schema));
const bodies = ({ requestBody }: DescribedOperation) => schemasIn(requestBody?.content);
/** Successes first: their names are the plain ones. Shared refusals are named already. */
const results = ({ responses }: DescribedOperation) =>
  Object.values(responses).flatMap(({ content }) => schemasIn(content));

function resultOf(names: SchemaNames, operationId: string, schema: JsonNode): JsonNode {
  const noun = nounOf(operationId);
  if (operationId.startsWith('list')) return listOf(names, singular(noun), schema);
  const result = `${pascalCase(operationId)}Result`;
  const isNoun = /^(?:get|count|search|export)[A-Z]/.test(operationId);
  return names.named(schema, [...titleOf(schema), ...(isNoun ? [noun] : []), result]);
}

/** `listAlerts` returns an `AlertPage` of `Alert`s, or an `AlertList` if it is not paginated. */
function listOf(names: SchemaNames, noun: string, schema: JsonNode): JsonNode {
  const rows = rowsOf(schema);
  const properties = schema['properties'] as Record<string, JsonNode> | undefined;
  const row = rows === undefined ? undefined : (properties?.[rows]?.['items'] as JsonNode | undefined);
  if (row?.['properties']) {
    names.named(row, [...titleOf(row), noun, `${noun}Summary`]);
  }
  return names.named(schema, [`${noun}${isPage(schema) ? 'Page' : 'List'}`]);
}
