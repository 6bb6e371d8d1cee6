import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { families } from '../../src/contexts/families.ts';
import type { EventDefinition } from '../../src/platform/kernel/event.ts';
import { narrowings, type Shape } from './shapes.ts';

const FILE = new URL('event-shapes.json', import.meta.url);
const VARIANTS = new URL('../fixtures/variants/', import.meta.url);
const UPDATE = process.env['UPDATE_FINGERPRINTS'] === '1';
const DRAFT =
  'the schema refuses it. If this version is not committed yet, delete its fixtures in test/fixtures/events and ' +
  'test/fixtures/variants and run node --import tsx scripts/event-fixtures.ts; otherwise, make a new version';
const COMMAND = 'UPDATE_FINGERPRINTS=1 npx vitest run fingerprints event-shapes';

interface Accepted {
  readonly version: number;
  readonly shape: Shape;
}

const definitions = families.flatMap(
  ({ definitions: all }) => Object.entries(all) as [type: string, definition: EventDefinition][],
);
const shapeOf = (schema: z.ZodType): Shape =>
  z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input', reused: 'inline' }) as Shape;
const now = Object.fromEntries(
  definitions
    .map(([type, { version, schema }]): [string, Accepted] => [type, { version, shape: shapeOf(schema) }])
    .toSorted(([a], [b]) => (a < b ? -1 : 1)),
);
const before = existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, Accepted>) : {};

const narrowed = Object.entries(now).flatMap(([type, { version, shape }]) =>
  before[type]?.version === version
    ? narrowings(before[type].shape, shape).map(
        (what) =>
          `${type} v${version} no longer accepts what it accepted: ${what}. Events of that kind may be stored. ` +
          `Make it version ${version + 1} with an upcaster, or take the change back`,
      )
    : [],
);

describe('a schema of stored events', () => {
  it('accepts everything that its version has ever accepted', () => {
    expect(narrowed).toEqual([]);
  });

  it('matches its recorded description', () => {
    if (UPDATE && narrowed.length === 0) writeFileSync(FILE, `${JSON.stringify(now, null, 1)}\n`);
    else
      expect(
        JSON.parse(JSON.stringify(now)),
        `a schema accepts more, is new, or has a new version. If that is intended, run: ${COMMAND}`,
      ).toEqual(before);
  });

  it('accepts every sample of its version, including its refinements', () => {
    const refused = definitions.flatMap(([type, { version, schema }]) => {
      const name = `${type}.v${version}.json`;
      if (!readdirSync(VARIANTS).includes(name))
        return [`${name} is missing: run node --import tsx scripts/event-fixtures.ts`];
      const samples = JSON.parse(readFileSync(new URL(name, VARIANTS), 'utf8')) as unknown[];
      return samples.flatMap((sample, at) =>
        schema.safeParse(sample).success ? [] : [`${name}, sample ${at}: ${DRAFT}`],
      );
    });
    expect(refused).toEqual([]);
  });

  const base = { kind: z.enum(['a', 'b', 'c']), note: z.string().max(20).optional(), list: z.array(z.int()).max(5) };
  it.each([
    ['a struck member of an enumeration', { ...base, kind: z.enum(['a', 'b']) }, true],
    ['a further member', { ...base, kind: z.enum(['a', 'b', 'c', 'd']) }, false],
    ['a text instead of an enumeration', { ...base, kind: z.string() }, false],
    ['an optional field that is required', { ...base, note: z.string().max(20) }, true],
    ['a stricter length', { ...base, note: z.string().max(19).optional() }, true],
    ['a looser length', { ...base, note: z.string().max(21).optional() }, false],
    ['no length at all', { ...base, note: z.string().optional() }, false],
    ['a new lower bound', { ...base, note: z.string().min(1).max(20).optional() }, true],
    ['a pattern', { ...base, note: z.string().max(20).regex(/x/).optional() }, true],
    ['another type', { ...base, list: z.array(z.string()).max(5) }, true],
    ['a bound on items', { ...base, list: z.array(z.int().max(3)).max(5) }, true],
    ['null as well', { ...base, note: z.string().max(20).nullable().optional() }, false],
    ['a new optional field', { ...base, more: z.string().optional() }, false],
    ['a new required field', { ...base, more: z.string() }, true],
    ['another kind of object as well', undefined, false],
  ])('is compared correctly: %s', (_what, fields, isNarrower) => {
    const former = shapeOf(z.object(base));
    const later = shapeOf(fields ? z.object(fields) : z.union([z.object(base), z.object({ other: z.string() })]));
    expect(narrowings(former, later).length > 0).toBe(isNarrower);
  });

  it('is narrower without null, and without one of several alternatives', () => {
    const text = z.string();
    expect(narrowings(shapeOf(text.nullable()), shapeOf(text))).not.toEqual([]);
    expect(narrowings(shapeOf(z.union([text, z.int()])), shapeOf(text))).not.toEqual([]);
    expect(narrowings(shapeOf(z.union([z.int(), text])), shapeOf(z.union([text, z.int()])))).toEqual([]);
    expect(narrowings(shapeOf(z.record(text, z.int())), shapeOf(z.record(text, z.int().min(3))))).not.toEqual([]);
    const byName = (...names: string[]) => shapeOf(z.partialRecord(z.enum(names), text));
    expect(narrowings(byName('a', 'b'), byName('a'))).not.toEqual([]);
    expect(narrowings(byName('a'), byName('a', 'b'))).toEqual([]);
    expect(narrowings(shapeOf(z.object({ a: text })), shapeOf(z.strictObject({ a: text })))).not.toEqual([]);
  });
});
