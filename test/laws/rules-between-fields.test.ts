import { expect, it } from 'vitest';
import { z } from 'zod';
import { reportedObservation } from '../../src/contexts/telemetry/domain/reported-observation.ts';
import { everyRoute, named } from './every-route.ts';

type Schema = z.core.$ZodType;

/** Zod's own tree of a schema, as far as rules between fields can be in it. */
interface Definition {
  readonly type: string;
  readonly discriminator?: string;
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

/** The unions in a schema whose kinds a field tells apart, with that field. */
function unionsOfKinds(schema: Schema, path: string): [string, Schema, string, readonly Schema[]][] {
  const definition = definitionOf(schema);
  const { type, discriminator, shape = {}, options = [], innerType, element, valueType, in: before, out } = definition;
  const own = type === 'union' && discriminator !== undefined;
  const parts = [...options, innerType, element, valueType, before, out].filter((part) => part !== undefined);
  return [
    ...(own ? [[path, schema, discriminator, options] as [string, Schema, string, readonly Schema[]]] : []),
    ...parts.flatMap((part) => unionsOfKinds(part, path)),
    ...Object.entries(shape).flatMap(([name, part]) => unionsOfKinds(part, `${path}.${name}`)),
  ];
}

/** Right for no field of a body. */
const WRONG = [[5]];

/** Decision 0187. */
it('a wrong field that tells kinds apart hides no field that all kinds have: see kindsBy', () => {
  const found = [
    ...everyRoute.flatMap((route) => {
      const schema = route.body as Schema | undefined;
      return schema ? unionsOfKinds(schema, named(route)) : [];
    }),
    // Its items are judged one by one, by the handler.
    ...unionsOfKinds(reportedObservation, 'POST /api/v1/ext/events'),
  ];
  expect(found.length).toBeGreaterThan(4);
  for (const [path, schema, discriminator, [first, ...others]] of found) {
    const common = Object.keys(definitionOf(first!).shape ?? {}).filter((name) =>
      others.every((kind) => name in (definitionOf(kind).shape ?? {})),
    );
    expect([path, common.length]).toEqual([path, expect.toSatisfy((length: number) => length > 1)]);
    for (const kind of [5, 'other', null]) {
      const body = { ...Object.fromEntries(common.map((name) => [name, WRONG])), [discriminator]: kind };
      const { error } = z.safeParse(schema, body);
      const fields = new Set(error?.issues.map((issue) => issue.path[0]));
      expect([path, [...fields].sort()]).toEqual([path, common.toSorted()]);
    }
  }
});

/** It takes what a creation takes, so it refuses what a creation refuses, by its schema and by the configuration. */
it('a test of what is not stored yet judges its body as the creation does', () => {
  const tests = everyRoute.filter(
    ({ method, path, body, description = '' }) =>
      method === 'POST' &&
      path.endsWith('/test') &&
      body !== undefined &&
      description.includes('what a creation takes'),
  );
  expect(tests.length).toBeGreaterThan(2);
  for (const probe of tests) {
    const creation = everyRoute.find((one) => `${named(one)}/test` === named(probe));
    expect([named(probe), probe.judge, probe.foresee]).toEqual([named(probe), creation?.judge, creation?.foresee]);
  }
});

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
