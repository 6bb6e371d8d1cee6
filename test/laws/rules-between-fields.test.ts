import { expect, it } from 'vitest';
import type { z } from 'zod';
import { everyRoute, named } from './every-route.ts';

type Schema = z.core.$ZodType;

/** Zod's own tree of a schema, as far as rules between fields can be in it. */
interface Definition {
  readonly type: string;
  readonly checks?: readonly z.core.$ZodCheck[];
  readonly shape?: Readonly<Record<string, Schema>>;
  readonly options?: readonly Schema[];
  readonly innerType?: Schema;
  readonly element?: Schema;
  readonly valueType?: Schema;
  readonly in?: Schema;
  readonly out?: Schema;
}
const definitionOf = (schema: Schema) => schema._zod.def as Definition;

/** A rule of `ruleBetween` takes part in how the object that it is attached to is judged. Others only wait for it. */
const isLate = ({ _zod: { def, onattach } }: z.core.$ZodCheck): boolean =>
  def.check === 'custom' && onattach.length === 0;

/** The rules of objects (and of unions of them) that are judged only when all fields are right. */
function lateRules(schema: Schema, path: string): string[] {
  const { type, checks = [], shape = {}, options = [], ...one } = definitionOf(schema);
  const isOfFields =
    type === 'object' || (type === 'union' && options.every((part) => definitionOf(part).type === 'object'));
  const parts: [string, Schema | undefined][] = [
    ...Object.entries(shape).map(([name, part]): [string, Schema] => [`${path}.${name}`, part]),
    ...[...options, one.innerType, one.in, one.out].map((part): [string, Schema | undefined] => [path, part]),
    ...[one.element, one.valueType].map((part): [string, Schema | undefined] => [`${path}[]`, part]),
  ];
  return [
    ...(isOfFields ? checks.filter(isLate).map(() => path) : []),
    ...parts.flatMap(([name, part]) => (part === undefined ? [] : lateRules(part, name))),
  ];
}

/** Decision 0173. */
it('rules between fields of a body or query are judged beside other wrong fields: see ruleBetween', () => {
  const late = everyRoute.flatMap((route) =>
    (['body', 'query'] as const).flatMap((part) => {
      const schema = route[part] as Schema | undefined;
      return schema ? lateRules(schema, `${named(route)} ${part}`) : [];
    }),
  );
  expect(late).toEqual([]);
});
