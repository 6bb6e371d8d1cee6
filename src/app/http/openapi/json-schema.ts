import { z } from 'zod';

/** `\p{Cc}` within a class. */
const CONTROLS = '\\u0000-\\u001f\\u007f-\\u009f';

/** The JSON Schema of a zod schema, as OpenAPI 3.1 has it. */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): object {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
    override: ({ jsonSchema: node }) => {
      // A tuple has nothing behind its last item. Linters want `items` to be an object.
      if (node.prefixItems && !node.items) node.items = { not: {} };
      // These formats say all that their long patterns say.
      if (node.format === 'uuid' || node.format === 'date-time') delete node.pattern;
      nameKeys(node);
      // A later version may return further members (OP-018).
      if (io === 'output' && node.properties && node.additionalProperties === false) delete node.additionalProperties;
      spellOutControls(node);
      // Several patterns of one text.
      for (const part of node.allOf ?? []) spellOutControls(part);
    },
  });
  return described;
}

/** Engines that do not know the properties of Unicode read the pattern, too. */
function spellOutControls(node: z.core.JSONSchema.BaseSchema): void {
  if (node.pattern) node.pattern = node.pattern.replaceAll('\\P{Cc}', `[^${CONTROLS}]`).replaceAll('\\p{Cc}', CONTROLS);
}

/** A record by the values of an enumeration: its keys are properties, so that generated types name them. */
function nameKeys(node: z.core.JSONSchema.BaseSchema): void {
  const { propertyNames, additionalProperties } = node;
  const keys = typeof propertyNames === 'object' ? propertyNames.enum : undefined;
  if (!keys || typeof additionalProperties !== 'object') return;
  node.properties = Object.fromEntries(keys.map((key) => [String(key), additionalProperties]));
  node.additionalProperties = false;
  delete node.propertyNames;
}
