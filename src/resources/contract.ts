import { z } from 'zod';
import type { Column } from '../kernel/read-model.ts';
import { isSecret, keptName, withoutDefault, type Field, type Fields } from './fields.ts';

/** A declaration that the engine can make nothing lasting of: found when the module is loaded. */
export class DeclarationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DeclarationError';
  }
}

/**
 * What an event promises about a field: its type, not the limits that hold at the door today. Those may become stricter
 * without making history unreadable; a field that is added later is read from older events as its default.
 */
export function contractOf(field: Field): z.ZodType {
  if (isSecret(field)) return z.uuid().nullable();
  return typeOf('kind' in field ? field.schema : field);
}

function typeOf(schema: z.ZodType): z.ZodType {
  const def = schema.def as { type: string } & Record<string, unknown>;
  const inner = () => typeOf(def['innerType'] as z.ZodType);
  switch (def.type) {
    case 'string':
      return z.string();
    case 'number':
      return isWhole(schema) ? z.int() : z.number();
    case 'boolean':
    case 'enum':
    case 'literal':
      return schema;
    case 'nullable':
      return inner().nullable();
    case 'optional':
      return inner().optional();
    case 'default':
      return inner().default(def['defaultValue'] as never);
    case 'pipe':
      return typeOf(def['out'] as z.ZodType);
    case 'array':
      return z.array(typeOf(def['element'] as z.ZodType));
    case 'record':
      return z.record(z.string(), typeOf(def['valueType'] as z.ZodType));
    case 'object':
      return z.object(Object.fromEntries(Object.entries((schema as z.ZodObject).shape).map(([name, part]) => [name, typeOf(part as z.ZodType)])));
    case 'union':
      return z.union((def['options'] as z.ZodType[]).map(typeOf));
    default:
      throw new DeclarationError(`a field of type ${def.type} has no lasting form: pipe it into one that has`);
  }
}

/** The fields as an event holds them; in one that says what changed, each may be missing, and none stands for its default. */
export function contentSchema(fields: Fields, part: 'whole' | 'changed'): z.ZodRawShape {
  const shape: Record<string, z.ZodType> = {};
  for (const [name, field] of Object.entries(fields)) {
    const contract = contractOf(field);
    shape[keptName(name, field)] = part === 'whole' ? contract : withoutDefault(contract).optional();
  }
  return shape;
}

const isWhole = (schema: z.ZodType): boolean => (schema as z.ZodNumber).format === 'safeint';

/** The column that holds the field. Lists and structures are kept as JSON. */
export function columnOf(field: Field): Column {
  if (isSecret(field)) return { sql: 'uuid', nullable: true };
  let schema = contractOf(field);
  let nullable = false;
  while (schema instanceof z.ZodDefault || schema instanceof z.ZodNullable) {
    nullable ||= schema instanceof z.ZodNullable;
    schema = schema.unwrap() as z.ZodType;
  }
  return { sql: sqlOf(schema), nullable };
}

function sqlOf(schema: z.ZodType): Column['sql'] {
  switch (schema.def.type) {
    case 'string':
    case 'enum':
    case 'literal':
      return 'text';
    case 'boolean':
      return 'boolean';
    case 'number':
      return isWhole(schema) ? 'bigint' : 'double precision';
    default:
      return 'jsonb';
  }
}
