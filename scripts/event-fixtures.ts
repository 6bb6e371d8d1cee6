import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { z } from 'zod';
import { families } from '../src/contexts/families.ts';
import type { EventFamily } from '../src/platform/kernel/event.ts';

/**
 * `node --import tsx scripts/event-fixtures.ts` writes test/fixtures/events/<Type>.v<N>.json for every event whose
 * current version has none yet. Existing files are never changed: an installation may have stored such an event.
 * test/fixtures/variants/<Type>.v<N>.json holds a list of further samples: other members of enumerations, null, absent
 * and repeated values. The fingerprints of folds depend on both, so they are never changed either.
 */
const FOLDER = fileURLToPath(new URL('../test/fixtures/events/', import.meta.url));
const VARIANTS = fileURLToPath(new URL('../test/fixtures/variants/', import.meta.url));

interface Definition {
  readonly type: string;
  readonly shape?: Record<string, z.ZodType>;
  readonly element?: z.ZodType;
  readonly innerType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly entries?: Record<string, string>;
  readonly values?: readonly unknown[];
  readonly keyType?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly items?: readonly z.ZodType[];
  readonly out?: z.ZodType;
  readonly getter?: () => z.ZodType;
}

/** One of these is valid for any string or number in the schemas. */
const CANDIDATES: readonly unknown[] = [
  'text',
  '0198a000-0000-7000-8000-000000000001',
  'person@example.com',
  '2026-01-02T03:04:05.678Z',
  '2026-01-02',
  'example.com',
  'https://example.com/path',
  '192.0.2.1',
  '192.0.2.0/24',
  '0a'.repeat(32),
  '0a'.repeat(20),
  'dGV4dA==',
  '1.2.3',
  'AB',
  '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n',
  '#0a0b0c',
  '12345678',
  1,
  0,
  10,
  100,
  1_767_323_045_678,
  0.5,
  -1,
  '0198a000-0000-7000-8000-000000000002',
  'Mixed Case',
  '2026-01-05T06:07:08.901Z',
  '2026-01-03',
  'other.example',
  'https://other.example/way',
  '0b'.repeat(32),
  2,
  3,
];

/** How a sample is chosen among the valid ones: 0 is the plain one, with every optional field present. */
type Choice = number;
const PLAIN: Choice = 0;
const MAX_VARIANTS = 20;

/** For free text: reveals a fold that changes letters. */
const WORDS: readonly unknown[] = ['text', 'other.example', 'Mixed Case'];

const one = <T>(values: readonly T[], choice: Choice): T => values[choice % values.length]!;

/** Of a schema around another one: optional, nullable, with a default. */
function innerSample({ type, innerType }: Definition, choice: Choice): unknown {
  if (type === 'nullable' && choice % 4 === 1) return null;
  if (type === 'optional' && choice % 4 === 2) return undefined;
  return sampleOf(innerType!, choice);
}

/** A valid value of the schema: always the same one for a choice. A choice other than 0 may be invalid. */
export function sampleOf(schema: z.ZodType, choice: Choice = PLAIN): unknown {
  const definition = schema._zod.def as unknown as Definition;
  if (definition.innerType) return innerSample(definition, choice);
  switch (definition.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(definition.shape!).map(([name, field], place) => [
          name,
          // Previous and current values differ, or nothing would have changed.
          sampleOf(field, choice !== PLAIN && isObject(field) ? choice + place : choice),
        ]),
      );
    case 'array':
      return itemsOf(definition.element!, choice);
    case 'tuple':
      return definition.items!.map((item) => sampleOf(item, choice));
    case 'record':
      return { [String(sampleOf(definition.keyType!, choice))]: sampleOf(definition.valueType!, choice) };
    case 'lazy':
      return sampleOf(definition.getter!(), choice);
    case 'union':
      return sampleOf(one(definition.options!, choice), choice);
    case 'enum':
      return one(Object.values(definition.entries!), choice);
    case 'literal':
      return one(definition.values!, choice);
    case 'boolean':
      return choice % 2 === 0;
    case 'null':
      return null;
    case 'pipe':
      return leaf(schema, choice) ?? sampleOf(definition.out!, choice);
    default:
      return leaf(schema, choice);
  }
}

const isObject = (schema: z.ZodType): boolean => {
  const { type, innerType } = schema._zod.def as unknown as Definition;
  return type === 'object' || (innerType !== undefined && isObject(innerType));
};

function itemsOf(element: z.ZodType, choice: Choice): unknown[] {
  if (choice % 4 === 2) return [];
  if (choice % 4 === 3) return [sampleOf(element, choice), sampleOf(element, choice + 1)];
  return [sampleOf(element, choice)];
}

function leaf(schema: z.ZodType, choice: Choice): unknown {
  const taken = CANDIDATES.filter((candidate) => schema.safeParse(candidate).success);
  const words = taken.filter((candidate) => WORDS.includes(candidate));
  return taken.length > 0 ? one(words.length > 0 ? words : taken, choice) : undefined;
}

/** The length of the longest enumeration or union in a schema: this many choices reach all members. */
function widthOf(schema: z.ZodType): number {
  const { shape, element, innerType, options, entries, valueType, items, out, getter } = schema._zod
    .def as unknown as Definition;
  const inside = [
    element,
    innerType,
    valueType,
    out,
    ...(options ?? []),
    ...(items ?? []),
    ...Object.values(shape ?? {}),
  ];
  if (getter) inside.push(getter());
  return Math.max(
    options?.length ?? 1,
    Object.keys(entries ?? {}).length,
    ...inside.map((part) => (part ? widthOf(part) : 1)),
  );
}

/** Samples besides the plain one, all different. */
export function variantsOf(schema: z.ZodType): unknown[] {
  const texts = new Set<string>();
  for (let choice = 1; choice <= Math.min(3 + widthOf(schema), MAX_VARIANTS); choice += 1) {
    const sample = schema.safeParse(sampleOf(schema, choice));
    if (sample.success) texts.add(JSON.stringify(sample.data));
  }
  return [...texts].map((text) => JSON.parse(text) as unknown);
}

export const fixtureName = (type: string, version: number): string => `${type}.v${version}.json`;

/** Writes missing fixtures; returns the events for which no sample could be created, with the failing path. */
function writeFixtures(all: readonly EventFamily[]): string[] {
  mkdirSync(FOLDER, { recursive: true });
  mkdirSync(VARIANTS, { recursive: true });
  const failed: string[] = [];
  for (const [type, { version, schema }] of all.flatMap(({ definitions }) => Object.entries(definitions))) {
    const variants = `${VARIANTS}${fixtureName(type, version)}`;
    if (!existsSync(variants)) writeFileSync(variants, `${JSON.stringify(variantsOf(schema), null, 2)}\n`);
    const file = `${FOLDER}${fixtureName(type, version)}`;
    if (existsSync(file)) continue;
    const sample = schema.safeParse(sampleOf(schema));
    if (sample.success) writeFileSync(file, `${JSON.stringify(sample.data, null, 2)}\n`);
    else
      failed.push(
        `${type}: ${sample.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ')}`,
      );
  }
  return failed;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const failed = writeFixtures(families);
  for (const line of failed) console.error(`write this one by hand: ${line}`);
  process.exitCode = failed.length > 0 ? 1 : 0;
}
