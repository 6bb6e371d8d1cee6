import { z } from 'zod';
import type { Role } from '../domain/identity/roles.ts';
import type { AnyCollection } from './collection-events.ts';
import { isSecret, type AnyValues, type Field, type Fields } from './fields.ts';

// A nullable that defaults to null, or a value that was transformed on its way in, reads as what came of it.
const readable = (schema: z.ZodType): z.ZodType => {
  if (schema instanceof z.ZodDefault) return readable(schema.unwrap() as z.ZodType);
  return schema instanceof z.ZodPipe ? readable(schema.out as z.ZodType) : schema;
};

/** How fields look in an answer. */
export function shownShape(fields: Fields, isHidden: (name: string) => boolean = () => false): z.ZodRawShape {
  const shape: Record<string, z.ZodType> = {};
  for (const [name, field] of Object.entries(fields)) {
    if (isSecret(field)) {
      shape[`${name}Configured`] = z.boolean();
      continue;
    }
    const schema = readable('kind' in field ? field.schema : field);
    shape[name] = isHidden(name) ? schema.nullable() : schema;
  }
  return shape;
}

/** The values that an answer shows of these fields: whether there is a secret, never which. */
export const shownValues = (fields: Fields, kept: AnyValues): AnyValues =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]: [string, Field]) =>
      isSecret(field) ? [`${name}Configured`, kept[`${name}Ref`] !== null] : [name, kept[name]],
    ),
  );

const who = z.uuid().nullable();
const when = z.iso.datetime();

export function collectionView({ fields, tracked, hidden = {}, showsCreator, noun }: AnyCollection): z.ZodObject {
  return z
    .object({
      id: z.uuid(),
      ...shownShape(fields, (name) => name in hidden),
      ...shownShape(tracked?.fields ?? {}),
      ...(showsCreator ? { createdBy: who } : {}),
      createdAt: when,
      updatedAt: when,
    })
    .meta({ title: noun });
}

/** A record as this role may see it. */
export function viewFor({ fields, tracked, hidden = {}, showsCreator }: AnyCollection, kept: AnyValues, role: Role): AnyValues {
  const veiled = (name: string) => (hidden as Readonly<Record<string, readonly Role[]>>)[name]?.includes(role) ?? false;
  const own = Object.entries(shownValues(fields, kept)).map(([name, value]) => [name, veiled(name) ? null : value]);
  return {
    id: kept['id'],
    ...Object.fromEntries(own),
    ...shownValues(tracked?.fields ?? {}, kept),
    ...(showsCreator ? { createdBy: kept['createdBy'] } : {}),
    createdAt: kept['createdAt'],
    updatedAt: kept['updatedAt'],
  };
}
