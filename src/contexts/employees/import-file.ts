import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { FailureError, invalid, tooLargeIn, type FieldError } from '../../platform/kernel/failure.ts';
import { employeeEmailField } from './domain/employee-email.ts';
import { csvRecords, type CsvRecord } from './csv.ts';

/** Choice OP-210. */
const MAX_ROWS = 10_000;

/** Records and rows that are read in one turn of the event loop, in which nobody else is served. */
const AT_ONCE = 200;

/** Columns of the header, with or without a name. */
const MAX_COLUMNS = 100;

/** An empty cell means no value: null for a new employee, and no change for an existing one. */
const cell = z
  .string()
  .trim()
  .max(200)
  .regex(/^\P{Cc}*$/u, 'contains control characters')
  .transform((text) => text || undefined)
  .optional();
const rowSchema = z.object({
  email: employeeEmailField,
  displayName: cell,
  department: cell,
  jobTitle: cell,
});
type Column = keyof typeof rowSchema.shape;
const COLUMNS = Object.keys(rowSchema.shape) as readonly Column[];

/** Rows count as a spreadsheet does: the header is row 1. */
export type ImportRow = z.output<typeof rowSchema> & { readonly row: number };
export interface RowError {
  readonly row: number;
  readonly error: string;
}
/** What is wrong by a schema error, by column. */
type Explain = (row: string, error: z.ZodError) => readonly FieldError[];

/** Reads a file row by row. Throws if the whole file is unreadable. */
export async function importedRows(file: Buffer, explain: Explain): Promise<{ rows: ImportRow[]; errors: RowError[] }> {
  const [header, ...records] = await boundedRecords(textOf(file));
  const columns =
    header && 'cells' in header
      ? header.cells.map((name) =>
          name
            .trim()
            .toLowerCase()
            .replaceAll(/[\s_-]/g, ''),
        )
      : [];
  const known = COLUMNS.map((name) => [name, columns.indexOf(name.toLowerCase())] as const);
  const repeated = known.find(([, column]) => column >= 0 && columns.includes(columns[column]!, column + 1));
  if (repeated) throw new FailureError(invalid('file', `has the column ${repeated[0]} more than once`));
  if (!columns.includes('email')) throw new FailureError(invalid('file', 'needs a header row with the column email'));
  if (columns.length > MAX_COLUMNS)
    throw new FailureError(tooLargeIn(['file'], `must have at most ${MAX_COLUMNS} columns`, 'file_too_long'));
  const rows: ImportRow[] = [];
  const errors: RowError[] = [];
  const seen = new Set<string>();
  for (const [at, record] of records.entries()) {
    if (at % AT_ONCE === 0) await nextTurn();
    const read = readRow(columns.length, known, record, explain);
    const address = 'email' in read ? read.email.toLowerCase() : '';
    if ('error' in read) errors.push(read);
    else if (seen.has(address))
      errors.push({ row: read.row, error: invalid('email', 'is already in an earlier row').message });
    else rows.push(read);
    seen.add(address);
  }
  return { rows, errors };
}

function textOf(file: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file);
  } catch {
    throw new FailureError(invalid('file', 'is not UTF-8 text'));
  }
}

async function boundedRecords(text: string): Promise<CsvRecord[]> {
  const records: CsvRecord[] = [];
  for (const record of csvRecords(text)) {
    if (records.length % AT_ONCE === 0) await nextTurn();
    if (records.push(record) > MAX_ROWS + 1)
      throw new FailureError(tooLargeIn(['file'], `must have at most ${MAX_ROWS} rows`, 'file_too_long'));
  }
  return records;
}

function readRow(
  width: number,
  known: readonly (readonly [name: Column, column: number])[],
  record: CsvRecord,
  explain: Explain,
): ImportRow | RowError {
  const { row } = record;
  if ('broken' in record) return { row, error: invalid('row', record.broken).message };
  if (record.cells.length > width) return { row, error: invalid('row', 'has more cells than the header').message };
  const read = rowSchema.safeParse(
    Object.fromEntries(known.map(([name, column]) => [name, record.cells[column] ?? ''])),
    { reportInput: true },
  );
  if (read.success) return { ...read.data, row };
  const reasons = explain('row', read.error).map(({ field, message }) => `${field}: ${message}`);
  return { row, error: `validation failed: ${reasons.join('; ')}` };
}
