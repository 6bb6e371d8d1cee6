import { z } from 'zod';
import type { ImportRow, RowError } from './import-file.ts';

/**
 * The outcome of a row. `updated` and `unchanged`: the employee existed before this import. `unknown`: the store did
 * not report whether the row was stored. `notStored`: the import ended before this row.
 */
const outcomes = ['imported', 'updated', 'unchanged', 'refused', 'unknown', 'notStored'] as const;
export type RowOutcome = (typeof outcomes)[number];

export const importReport = z.object({
  imported: z.int(),
  updated: z.int(),
  skipped: z.int(),
  total: z.int(),
  /** Rows as a spreadsheet counts them: the header is row 1. */
  errors: z.array(z.object({ row: z.int(), error: z.string() })),
  rows: z.array(z.object({ row: z.int(), outcome: z.enum(outcomes), userId: z.uuid().nullable() })),
});

/** The progress of an import, row by row. */
export class ImportReport {
  readonly #errors: RowError[];
  readonly #rows: Map<number, { readonly outcome: RowOutcome; readonly userId: string | null }>;

  constructor(rows: readonly ImportRow[], errors: readonly RowError[]) {
    this.#errors = [...errors];
    this.#rows = new Map(rows.map(({ row }) => [row, { outcome: 'notStored', userId: null }]));
    for (const { row } of errors) this.#rows.set(row, { outcome: 'refused', userId: null });
  }

  tell(row: number, outcome: RowOutcome, userId: string): void {
    this.#rows.set(row, { outcome, userId });
  }

  refuse(row: number, error: string): void {
    this.#errors.push({ row, error });
    this.#rows.set(row, { outcome: 'refused', userId: null });
  }

  /** The body of the response. */
  get body(): z.output<typeof importReport> {
    const count = (...counted: RowOutcome[]) =>
      [...this.#rows.values()].filter(({ outcome }) => counted.includes(outcome)).length;
    return {
      imported: count('imported'),
      updated: count('updated'),
      skipped: count('unchanged', 'refused'),
      total: this.#rows.size,
      errors: this.#errors.toSorted((a, b) => a.row - b.row),
      rows: [...this.#rows].map(([row, told]) => ({ row, ...told })).sort((a, b) => a.row - b.row),
    };
  }
}
