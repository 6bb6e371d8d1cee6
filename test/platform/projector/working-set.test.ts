import { describe, expect, it } from 'vitest';
import type { RecordedEvent } from '../../../src/platform/kernel/event.ts';
import { WorkingSet, type EventSteps, type RowStep } from '../../../src/platform/projector/working-set.ts';
import type { TableRow } from '../../../src/platform/projector/table.ts';
import { TENANT } from '../../dsl/given.ts';

const event = { tenantId: TENANT } as RecordedEvent;
const asked = (...steps: RowStep[]): EventSteps[] => [{ event, steps }];
const put = (id: string, more: Partial<RowStep> = {}): RowStep =>
  ({
    key: { id },
    fold: (row) => ({ id, tenant_id: TENANT, times: Number(row?.['times'] ?? 0) + 1 }),
    ...more,
  }) as RowStep;
const remove = (id: string): RowStep => ({ key: { id }, fold: () => undefined });
const ids = (rows: readonly TableRow[]) => rows.map(({ id }) => id);

/** Loads the missing rows from a table of these rows, and folds. */
function fold(
  work: WorkingSet,
  table: readonly string[],
  batch: EventSteps[],
): { loaded: unknown[]; upserts: unknown[]; removals: unknown[] } {
  const missing = work.missing(batch);
  work.admit(
    missing,
    missing.filter(({ id }) => table.includes(id as string)).map(({ id }) => ({ id, tenant_id: TENANT, times: 1 })),
  );
  expect(work.fold(batch)).toEqual([]);
  const { upserts, removals } = work.changes();
  work.settle(100);
  return { loaded: ids(missing), upserts: ids(upserts.map(({ row }) => row)), removals: ids(removals) };
}

describe('the working set of a page', () => {
  it('is loaded once', () => {
    const work = new WorkingSet(['id']);
    expect(fold(work, [], asked(put('a')))).toEqual({ loaded: ['a'], upserts: ['a'], removals: [] });
    expect(fold(work, [], asked(put('a')))).toEqual({ loaded: [], upserts: ['a'], removals: [] });
  });

  it('is not loaded for rows that begin in the page, which stay in memory', () => {
    const work = new WorkingSet(['id']);
    expect(fold(work, [], asked(put('a', { begins: true })))).toEqual({ loaded: [], upserts: ['a'], removals: [] });
    expect(fold(work, [], asked(put('a')))).toEqual({ loaded: [], upserts: ['a'], removals: [] });
    expect(work.size).toBe(1);
  });

  it('neither loads nor keeps rows that belong to one event', () => {
    const work = new WorkingSet(['id']);
    expect(fold(work, [], asked(put('a', { once: true })))).toEqual({ loaded: [], upserts: ['a'], removals: [] });
    expect(work.size).toBe(0);
  });

  it('deletes rows from the table only if they exist in it', () => {
    const work = new WorkingSet(['id']);
    expect(fold(work, ['b'], [...asked(put('a')), ...asked(remove('a'), remove('b'))])).toEqual({
      loaded: ['a', 'b'],
      upserts: [],
      removals: ['b'],
    });
    expect(fold(work, [], asked(put('a')))).toMatchObject({ upserts: ['a'], removals: [] });
    expect(fold(work, [], asked(remove('a')))).toMatchObject({ upserts: [], removals: ['a'] });
    expect(fold(work, [], asked(remove('a')))).toMatchObject({ upserts: [], removals: [] });
  });
});
