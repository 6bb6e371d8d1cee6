import { z } from 'zod';
import { isSecret, isWritable, storedName, withoutDefault, type Field, type Fields } from './fields.ts';
import { lastingType } from './lasting-type.ts';

const shapeOf = (
  fields: Fields,
  nameOf: (name: string, field: Field) => string,
  schemaOf: (field: Field, name: string) => z.ZodType | undefined,
): z.ZodRawShape =>
  Object.fromEntries(
    Object.entries(fields)
      .map(([name, field]) => [nameOf(name, field), schemaOf(field, name)] as const)
      .filter((entry): entry is [string, z.ZodType] => entry[1] !== undefined),
  );

/**
 * The body that creates or changes a record. A change keeps the values of fields that are left out (OP-009), so it
 * has no defaults.
 */
export const bodySchema = (fields: Fields, purpose: 'create' | 'change'): z.ZodObject =>
  z.object(
    shapeOf(
      fields,
      (name) => name,
      (field) => {
        if (isSecret(field)) return field.schema.nullish();
        if (!isWritable(field)) return undefined;
        return purpose === 'create' ? field : withoutDefault(field).optional();
      },
    ),
  );

/** The fields in an event: all of them, or only those that changed. */
export const eventShape = (fields: Fields, part: 'whole' | 'changed'): z.ZodRawShape =>
  shapeOf(fields, storedName, (field) =>
    part === 'whole' ? lastingType(field) : withoutDefault(lastingType(field)).optional(),
  );

/** The fields in a response; `isHidden` returns true for those that some callers see as null. */
export const responseShape = (fields: Fields, isHidden: (name: string) => boolean = () => false): z.ZodRawShape =>
  shapeOf(fields, shownName, (field, name) => {
    if (isSecret(field)) return z.boolean();
    const schema = readable('kind' in field ? field.schema : field);
    return isHidden(name) ? schema.nullable() : schema;
  });

export const shownName = (name: string, field: Field): string => (isSecret(field) ? `${name}Configured` : name);

/** The schema of stored values: after defaults and normalization. */
function readable(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault) return readable(schema.unwrap() as z.ZodType);
  return schema instanceof z.ZodPipe ? readable(schema.out as z.ZodType) : schema;
}
