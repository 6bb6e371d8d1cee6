import { describe, expect, it } from 'vitest';
import { auditLog } from '../../projections/audit/audit-log.ts';
import { installedExtensions } from '../../projections/extensions/installed-extensions.ts';
import { readModels } from '../../projections/index.ts';
import { telemetryQuarters } from '../../projections/telemetry/telemetry-quarters.ts';
import { families } from '../../src/contexts/families.ts';
import type { RecordedEvent } from '../../src/platform/kernel/event.ts';
import type { AnyReadModel } from '../../src/platform/kernel/read-model.ts';
import { fingerprintOf, foldHistories, present, type Change, type Folding, type Row } from '../dsl/fold-histories.ts';
import { compare, whatIsWrong, type Versioned } from './fingerprints.ts';

const FILE = new URL('read-model-fingerprints.json', import.meta.url);
const COMMAND = 'UPDATE_FINGERPRINTS=1 npx vitest run fingerprints event-shapes';

const foldingOf = ({ name, version, columns, key, scope, on }: AnyReadModel): Versioned => ({
  name,
  version,
  columns,
  key,
  scope: scope ?? 'tenant',
  on: on as Folding['on'],
});
const all = [...readModels, auditLog(Buffer.alloc(32, 7), families)].map(foldingOf);

/** The same model with every row changed on its way out of a fold. */
const withRows = (folding: Folding, alter: (row: Row) => Row): Folding => ({
  ...folding,
  on: Object.fromEntries(
    Object.entries(folding.on).map(([type, handler]) => [
      type,
      (event: RecordedEvent): Change[] =>
        ([handler(event)].flat() as Change[]).map((step) => {
          if (!('fold' in step)) return step;
          const fold = (row: Row | undefined) => {
            const next = step.fold(row);
            return next && next !== row ? alter(next) : next;
          };
          return { ...step, fold };
        }),
    ]),
  ),
});

describe('a read model that folds differently has a higher version', () => {
  it('holds for every model that the projector maintains', () => {
    expect(whatIsWrong(all, FILE, COMMAND)).toEqual([]);
  });

  it('is checked with histories that reach every handler and every column', () => {
    const unreached: string[] = [];
    const empty: string[] = [];
    for (const model of all) {
      const happened = foldHistories(model, present);
      const reached = new Set(happened.filter(({ refused }) => !refused).map(({ type }) => type));
      unreached.push(...Object.keys(model.on).flatMap((type) => (reached.has(type) ? [] : [`${model.name} ${type}`])));
      const filled = new Set(
        happened.flatMap(({ row = {} }) => Object.keys(row).filter((column) => row[column] !== null)),
      );
      empty.push(
        ...Object.keys(model.columns).flatMap((column) => (filled.has(column) ? [] : [`${model.name} ${column}`])),
      );
    }
    const samples = 'no sample in test/fixtures/events or test/fixtures/variants';
    expect(unreached, `${samples} makes these handlers change a row`).toEqual([]);
    expect(empty, `${samples} fills these columns`).toEqual([]);
  });

  it('is detected for a column, the order of columns, the key, a helper that changes a text, and one that doubles a sum', () => {
    const model = foldingOf(telemetryQuarters);
    const before = fingerprintOf(model, present);
    const [first, ...others] = Object.entries(model.columns);
    expect(first).toBeDefined();
    expect(fingerprintOf({ ...model, columns: Object.fromEntries(others) }, present)).not.toBe(before);
    // Rows are written by place: a table of the other order refuses them, or takes one column for another.
    const turned = Object.fromEntries([...others, first!]);
    expect(fingerprintOf({ ...model, columns: turned }, present)).not.toBe(before);
    expect(fingerprintOf({ ...model, key: [...model.key, 'total'] }, present)).not.toBe(before);
    expect(fingerprintOf({ ...model, scope: 'installation' }, present)).not.toBe(before);
    const doubled = withRows(model, (row) => ({ ...row, warnings: 2 * (row['warnings'] as number) }));
    expect(fingerprintOf(doubled, present)).not.toBe(before);
    const extensions = foldingOf(installedExtensions);
    const louder = withRows(extensions, (row) => ({ ...row, name: String(row['name']).toUpperCase() }));
    expect(fingerprintOf(louder, present)).not.toBe(fingerprintOf(extensions, present));
    // The same folds, written differently.
    const same = withRows(extensions, (row) => ({ ...row }));
    expect(fingerprintOf(same, present)).toBe(fingerprintOf(extensions, present));
  });

  it('is reported with what to do, and new events are accepted', () => {
    const model = foldingOf(telemetryQuarters);
    const hash = fingerprintOf(model, present);
    const released = { events: present, fingerprints: { [model.name]: { version: model.version, hash } } };
    expect(compare([model], released, COMMAND)).toMatchObject({ changed: [], outdated: [] });
    const other = { ...released, fingerprints: { [model.name]: { version: model.version, hash: 'another' } } };
    expect(compare([model], other, COMMAND).changed[0]).toContain(`Give it version ${model.version + 1}`);
    expect(compare([{ ...model, version: model.version + 1 }], other, COMMAND).changed).toEqual([]);
    expect(compare([{ ...model, version: model.version - 1 }], released, COMMAND).changed[0]).toContain('only rise');
    // Released before one of its events existed.
    const { TelemetryRecorded, ...earlier } = present;
    expect(TelemetryRecorded).toBeDefined();
    const young = fingerprintOf(model, earlier);
    const former = { events: earlier, fingerprints: { [model.name]: { version: model.version, hash: young } } };
    expect(compare([model], former, COMMAND)).toMatchObject({
      changed: [],
      outdated: [expect.stringContaining('new')],
    });
  });
});
