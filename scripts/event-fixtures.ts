import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { z } from 'zod';
import { families } from '../src/domain/families.ts';
import type { EventFamily } from '../src/kernel/event.ts';

/**
 * `node --import tsx scripts/event-fixtures.ts` writes test/fixtures/events/<Type>.v<N>.json for every event whose present
 * version has none yet. What is there is never touched: it is what an installation somewhere may have in its store.
 */
const FOLDER = fileURLToPath(new URL('../test/fixtures/events/', import.meta.url));

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

/** One of these is what any string or number of ours takes. */
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
];

/** A value that the schema takes: the same one every time, with every optional field there. */
export function sampleOf(schema: z.ZodType): unknown {
  const definition = schema._zod.def as unknown as Definition;
  if (definition.innerType) return sampleOf(definition.innerType);
  switch (definition.type) {
    case 'object':
      return Object.fromEntries(Object.entries(definition.shape!).map(([name, field]) => [name, sampleOf(field)]));
    case 'array':
      return [sampleOf(definition.element!)];
    case 'tuple':
      return definition.items!.map(sampleOf);
    case 'record':
      return { [String(sampleOf(definition.keyType!))]: sampleOf(definition.valueType!) };
    case 'lazy':
      return sampleOf(definition.getter!());
    case 'union':
      return sampleOf(definition.options![0]!);
    case 'enum':
      return Object.values(definition.entries!)[0];
    case 'literal':
      return definition.values![0];
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'pipe':
      return leaf(schema) ?? sampleOf(definition.out!);
    default:
      return leaf(schema);
  }
}

const leaf = (schema: z.ZodType): unknown => CANDIDATES.find((candidate) => schema.safeParse(candidate).success);

export const fixtureName = (type: string, version: number): string => `${type}.v${version}.json`;

/** Writes what is missing; answers the events for which no sample could be made, with where it failed. */
function writeFixtures(all: readonly EventFamily[]): string[] {
  mkdirSync(FOLDER, { recursive: true });
  const failed: string[] = [];
  for (const [type, { version, schema }] of all.flatMap(({ definitions }) => Object.entries(definitions))) {
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
