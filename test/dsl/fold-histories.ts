import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { families } from '../../src/contexts/families.ts';
import { canonicalJson } from '../../src/platform/kernel/canonical-json.ts';
import type { EventDefinition, RecordedEvent } from '../../src/platform/kernel/event.ts';
import { Containing, type Columns } from '../../src/platform/kernel/read-model.ts';
import { inEnvelope } from './given.ts';

/** One row change, as read models and the state of reactions request it. Ignores effects. */
export type Change =
  | { readonly key: Row; readonly fold: (row: Row | undefined) => Row | undefined }
  | { readonly key: Row; readonly react: (row: Row | undefined) => { readonly row: Row | undefined } }
  | { readonly purge: Row }
  | { readonly effects: unknown };
export type Row = Record<string, unknown>;

/** What is folded: a read model, or the state of a reaction. */
export interface Folding {
  readonly columns: Columns;
  readonly key: readonly string[];
  readonly scope: string;
  readonly on: Readonly<Record<string, (event: RecordedEvent) => Change | readonly Change[]>>;
}

/** The newest version of each event that the histories contain. */
export type Basis = Readonly<Record<string, number>>;

interface Sample {
  readonly category: string;
  readonly type: string;
  readonly version: number;
  readonly data: unknown;
}

const FOLDERS = ['events', 'variants'].map((name) => new URL(`../fixtures/${name}/`, import.meta.url));
const STEP_MS = 5 * 3_600_000 + 7 * 60_000 + 11_013;
const ACTORS = [
  { kind: 'admin', id: '22222222-2222-4222-8222-222222222222', ip: '192.0.2.7', userAgent: 'Browser/1.0' },
  { kind: 'device', id: '0198a000-0000-7000-8000-000000000001' },
  { kind: 'system', id: null, userAgent: 'test' },
] as RecordedEvent['metadata']['actor'][];

const definitions = new Map<string, { readonly category: string; readonly definition: EventDefinition }>(
  families.flatMap(({ category, definitions: all }) =>
    Object.entries(all as Record<string, EventDefinition>).map(
      ([type, definition]) => [type, { category, definition }] as const,
    ),
  ),
);

export const present: Basis = Object.fromEntries(
  [...definitions].map(([type, { definition }]) => [type, definition.version] as const).toSorted(),
);

/** By type, in the order of the families: the samples of every version, the oldest first. */
const samples: ReadonlyMap<string, readonly Sample[]> = readSamples();

function readSamples(): Map<string, readonly Sample[]> {
  const files = new Map<string, unknown[]>();
  for (const folder of FOLDERS)
    for (const name of readdirSync(folder)) {
      const read = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as unknown;
      files.set(name, [...(files.get(name) ?? []), ...(Array.isArray(read) ? read : [read])]);
    }
  return new Map(
    [...definitions].map(([type, { category, definition }]) => [
      type,
      Array.from({ length: definition.version }, (_, at) => at + 1).flatMap((version) =>
        (files.get(`${type}.v${version}.json`) ?? []).map((data) => ({ category, type, version, data })),
      ),
    ]),
  );
}

/** As a reader of the current version gets it: computed once, since folds do not change their input. */
const read = new Map<Sample, unknown>();

function upcast(sample: Sample): unknown {
  if (!read.has(sample)) {
    const { definition } = definitions.get(sample.type)!;
    let { data } = sample;
    for (let at = sample.version; at < definition.version; at += 1)
      data = (definition.upcasters?.[at] as ((old: unknown) => unknown) | undefined)?.(data) ?? data;
    const current = definition.schema.safeParse(data);
    if (!current.success)
      throw new Error(
        `a sample of ${sample.type} version ${sample.version} does not fit version ${definition.version}: ` +
          `${current.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')}. ` +
          (sample.version < definition.version
            ? `Check its upcasters from number ${sample.version} on`
            : 'If this version is not committed yet, delete its fixtures and write them again'),
      );
    read.set(sample, current.data);
  }
  return read.get(sample);
}

/** Events that remove rows. */
const ENDINGS = /(Deleted|Erased|Removed)$/;
/** Models with more types follow the whole log, and remove nothing. */
const FEW_TYPES = 20;

/**
 * Possible orders of the same samples, each twice: type by type, so that each meets everything that the previous type
 * left; round by round, so that a creation is followed by its own changes; and round by round backwards, so that
 * changes and deletions come before their subject. Then, for each type that ends something, all types that end nothing
 * followed by that type.
 */
function histories(types: readonly string[], basis: Basis): Sample[][] {
  const known = types.map((type) => (samples.get(type) ?? []).filter(({ version }) => version <= (basis[type] ?? 0)));
  const rounds = Array.from({ length: Math.max(0, ...known.map(({ length }) => length)) }, (_, round) =>
    known.flatMap((all) => (all.length > 0 ? [all[round % all.length]!] : [])),
  );
  const isEnding = ({ type }: Sample) => ENDINGS.test(type);
  const beginnings = rounds.flat().filter((sample) => !isEnding(sample));
  const orders = [
    known.flat(),
    rounds.flat(),
    rounds.map((round) => round.toReversed()).flat(),
    ...known
      .filter(([sample]) => types.length <= FEW_TYPES && sample && isEnding(sample))
      .map((endings) => [...beginnings, ...endings]),
  ];
  return orders.map((order) => [...order, ...order]);
}

/** A change of a row: none if the row stayed the same. */
export interface Happened {
  readonly type: string;
  readonly row?: Row;
  readonly gone?: string;
  readonly refused?: true;
}

/** What present events change, by key and handlers: laws over all models ask more than once. */
const remembered = new WeakMap<readonly string[], WeakMap<Folding['on'], readonly Happened[]>>();

/** All changes of a table's rows in all histories of the basis, in order. */
export function foldHistories({ key, on }: Pick<Folding, 'key' | 'on'>, basis: Basis): readonly Happened[] {
  if (basis !== present) return foldAll({ key, on }, basis);
  const byHandlers = remembered.get(key) ?? new WeakMap<Folding['on'], readonly Happened[]>();
  const happened = byHandlers.get(on) ?? foldAll({ key, on }, basis);
  remembered.set(key, byHandlers.set(on, happened));
  return happened;
}

function foldAll({ key, on }: Pick<Folding, 'key' | 'on'>, basis: Basis): Happened[] {
  // In the order of the families, not of the handlers.
  const types = [...samples.keys()].filter((type) => on[type] && basis[type] !== undefined);
  return histories(types, basis).flatMap((history) => {
    const table = new Map<string, Row>();
    return history.flatMap((sample, at) => foldOne({ key, on }, table, eventOf(sample, at + 1)));
  });
}

const eventOf = (sample: Sample, n: number): RecordedEvent =>
  inEnvelope({ type: sample.type, data: upcast(sample) }, n, {
    stream: `${sample.category}-0198a000-0000-7000-8000-000000000001`,
    recordedAt: Date.UTC(2026, 0, 2) + n * STEP_MS,
    metadata: { ...inEnvelope({ type: '', data: {} }, n).metadata, actor: ACTORS[n % ACTORS.length]! },
    stored: { version: sample.version, data: sample.data },
  });

/** Rows that an event touched, in their previous state. */
type Touched = Map<string, Row | undefined>;

function foldOne({ key, on }: Pick<Folding, 'key' | 'on'>, table: Map<string, Row>, event: RecordedEvent): Happened[] {
  const { type } = event;
  const touched: Touched = new Map();
  try {
    for (const step of [on[type]!(event)].flat() as Change[]) apply(step, key, table, touched);
  } catch {
    for (const [name, row] of touched) put(table, name, row);
    return [{ type, refused: true }];
  }
  return [...touched].flatMap(([name, before]): Happened[] => {
    const row = table.get(name);
    if (!row) return before ? [{ type, gone: name }] : [];
    return !before || (before !== row && canonicalJson(before) !== canonicalJson(row)) ? [{ type, row }] : [];
  });
}

function apply(step: Change, key: readonly string[], table: Map<string, Row>, touched: Touched): void {
  const change = (name: string, row: Row | undefined) => {
    if (!touched.has(name)) touched.set(name, table.get(name));
    put(table, name, row);
  };
  if ('purge' in step) {
    for (const [name, row] of table)
      if (Object.entries(step.purge).every(([column, wanted]) => matches(row[column], wanted))) change(name, undefined);
  } else if ('key' in step) {
    const name = canonicalJson(key.map((column) => step.key[column]));
    const row = table.get(name);
    const next = 'fold' in step ? step.fold(row) : step.react(row).row;
    // As the table stores it: values that are not JSON would be lost.
    if (next !== row) change(name, next && (JSON.parse(JSON.stringify({ ...next, ...step.key })) as Row));
  }
}

function put(table: Map<string, Row>, name: string, row: Row | undefined): void {
  if (row) table.set(name, row);
  else table.delete(name);
}

const matches = (value: unknown, wanted: unknown): boolean =>
  wanted instanceof Containing ? String(value).includes(wanted.text) : value === wanted;

/** Everything that determines the content of a table: columns in their order, key, tenancy, and the results of its folds. */
export function fingerprintOf(folding: Folding, basis: Basis): string {
  const { columns, key, scope } = folding;
  const shape = Object.entries(columns).map(([name, { sql, nullable }]) => [name, sql, nullable]);
  const hash = createHash('sha256').update(JSON.stringify([shape, key, scope]));
  for (const one of foldHistories(folding, basis)) hash.update(canonicalJson(one)).update('\n');
  return hash.digest('hex').slice(0, 32);
}
