import { z } from 'zod';
import type { Column } from '../kernel/read-model.ts';
import { isSecret, type Field } from './fields.ts';

/** A declaration for which the engine cannot derive event or column types. Thrown when the module is loaded. */
export class DeclarationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DeclarationError';
  }
}

/**
 * The type of a field in events: without the limits of today's input validation. These may become stricter without
 * making history unreadable. A field that is added later is read from older events as its default.
 */
export const lastingType = (field: Field): z.ZodType =>
  isSecret(field) ? z.uuid().nullable() : typeOf('kind' in field ? field.schema : field);

function typeOf(schema: z.ZodType): z.ZodType {
  const def = schema.def as { type: string } & Record<string, unknown>;
  const part = (name: string) => typeOf(def[name] as z.ZodType);
  switch (def.type) {
    case 'boolean':
    case 'enum':
    case 'literal':
      return schema;
    case 'string':
      return z.string();
    case 'number':
      return isWhole(schema) ? z.int() : z.number();
    case 'nullable':
      return part('innerType').nullable();
    case 'optional':
      return part('innerType').optional();
    case 'default':
      return part('innerType').default(def['defaultValue'] as never);
    case 'pipe':
      return part('out');
    case 'array':
      return z.array(part('element'));
    case 'record':
      return z.record(z.string(), part('valueType'));
    case 'object':
      return z.object(
        Object.fromEntries(
          Object.entries(def['shape'] as z.ZodRawShape).map(([name, inner]) => [name, typeOf(inner as z.ZodType)]),
        ),
      );
    case 'union':
      return z.union((def['options'] as z.ZodType[]).map(typeOf));
    default:
      throw new DeclarationError(`a field of type ${def.type} has no type for events: pipe it into one that has`);
  }
}

const isWhole = (schema: z.ZodType): boolean => (schema as z.ZodNumber).format === 'safeint';

/** The column that holds the field. Lists and objects are stored as JSON. */
export function columnOf(field: Field): Column {
  if (isSecret(field)) return { sql: 'uuid', nullable: true };
  let schema = lastingType(field);
  let nullable = false;
  while (schema instanceof z.ZodDefault || schema instanceof z.ZodNullable) {
    nullable ||= schema instanceof z.ZodNullable;
    schema = schema.unwrap() as z.ZodType;
  }
  return {
    sql: schema.def.type === 'number' && isWhole(schema) ? 'bigint' : (SQL_TYPES[schema.def.type] ?? 'jsonb'),
    nullable,
  };
}

const SQL_TYPES: Readonly<Record<string, Column['sql']>> = {
  string: 'text',
  enum: 'text',
  literal: 'text',
  boolean: 'boolean',
  number: 'double precision',
};
