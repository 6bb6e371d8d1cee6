import { z } from 'zod';
import { createEmployee } from '../../../commands/employees/create-employee.ts';
import { updateEmployee } from '../../../commands/employees/update-employee.ts';
import { licenseUsage } from '../../../queries/tenants/license-usage.ts';
import { employeeEmailClaim } from '../../domain/employees/employee.ts';
import { emailField } from '../../domain/identity/password-rule.ts';
import { csvRecords, type CsvRecord } from '../../employees/csv.ts';
import { streamSubject } from '../../kernel/aggregate.ts';
import { FailureError, forbidden, invalid, tooLarge } from '../../kernel/failure.ts';
import { admin } from '../access.ts';
import type { AdminPrincipal } from '../principal.ts';
import { route, type Call } from '../route.ts';
import { failureOfIssues } from '../validation.ts';

/** Choice OP-210. */
const MOST_BYTES = 5 * 1024 * 1024;
const MOST_ROWS = 10_000;
const AT_ONCE = 25;

/** An empty cell says nothing: it is null for a new employee and keeps what a known one has. */
const cell = z.string().trim().max(200).regex(/^\P{Cc}*$/u, 'contains control characters').transform((text) => text || undefined).optional();
const rowSchema = z.object({ email: z.string().trim().pipe(emailField), displayname: cell, department: cell, jobtitle: cell });
type Row = z.output<typeof rowSchema> & { readonly row: number };
interface RowError {
  readonly row: number;
  readonly error: string;
}

type Importing = Pick<Call<undefined, undefined, undefined, AdminPrincipal>, 'run' | 'ask' | 'services' | 'principal' | 'fresh'>;

export const employeeImport = route({
  method: 'POST',
  path: '/api/v1/admin/users/import',
  isBulk: true,
  access: admin('employees:write'),
  summary: 'Add and change employees by a CSV file with the header email,displayName,department,jobTitle',
  consumes: 'multipart',
  file: { part: 'file', mostBytes: MOST_BYTES },
  body: z.object({ file: z.string().meta({ format: 'binary' }) }),
  answer: z.object({
    imported: z.int(),
    updated: z.int(),
    skipped: z.int(),
    total: z.int(),
    /** Rows as a spreadsheet counts them: the header is row 1. */
    errors: z.array(z.object({ row: z.int(), error: z.string() })),
  }),
  handle: async (call) => {
    // A place is taken when the file is there: a slow upload holds none.
    const text = textOf(await call.file());
    return call.services.limits.imports.run(call.principal.tenantId, () => importRows(call, text));
  },
});

async function importRows(call: Importing, text: string) {
  const { rows, errors } = rowsOf(text);
  const known = await Promise.all(rows.map((row) => userOf(call, row)));
  await refuseTooMany(call, known.filter((userId) => userId === undefined).length);
  const counts = { imported: 0, updated: 0, unchanged: 0 };
  for (let from = 0; from < rows.length; from += AT_ONCE) {
    const batch = rows.slice(from, from + AT_ONCE).map(async (row, at) => {
      try {
        counts[await take(call, row, known[from + at])] += 1;
      } catch (error) {
        if (!(error instanceof FailureError) || error.failure.kind === 'unavailable') throw error;
        errors.push({ row: row.row, error: error.failure.message });
      }
    });
    await Promise.all(batch);
  }
  const { imported, updated, unchanged } = counts;
  const skipped = unchanged + errors.length;
  return { imported, updated, skipped, total: imported + updated + skipped, errors: errors.sort((a, b) => a.row - b.row) };
}

function textOf(file: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file);
  } catch {
    throw new FailureError(invalid('file', 'is not UTF-8 text'));
  }
}

function rowsOf(text: string): { rows: Row[]; errors: RowError[] } {
  const [header, ...records] = boundedRecords(text);
  const columns = header && 'cells' in header ? header.cells.map((name) => name.trim().toLowerCase().replaceAll(/[\s_-]/g, '')) : [];
  if (!columns.includes('email')) throw new FailureError(invalid('file', 'needs a header row with the column email'));
  const rows: Row[] = [];
  const errors: RowError[] = [];
  const seen = new Set<string>();
  for (const record of records) {
    const read = readRow(columns, record);
    const address = 'email' in read ? read.email.toLowerCase() : '';
    if ('error' in read) errors.push(read);
    else if (seen.has(address)) errors.push({ row: read.row, error: invalid('email', 'stands in an earlier row').message });
    else rows.push(read);
    seen.add(address);
  }
  return { rows, errors };
}

function boundedRecords(text: string): CsvRecord[] {
  const records: CsvRecord[] = [];
  for (const record of csvRecords(text)) {
    if (records.push(record) > MOST_ROWS + 1) throw new FailureError(tooLarge(`file: must have at most ${MOST_ROWS} rows`));
  }
  return records;
}

function readRow(columns: readonly string[], record: CsvRecord): Row | RowError {
  const { row } = record;
  if ('broken' in record) return { row, error: invalid('row', record.broken).message };
  if (record.cells.length > columns.length) return { row, error: invalid('row', 'has more cells than the header').message };
  const read = rowSchema.safeParse(Object.fromEntries(columns.map((name, at) => [name, record.cells[at] ?? ''])), { reportInput: true });
  return read.success ? { ...read.data, row } : { row, error: failureOfIssues('row', read.error).message };
}

/** The id that a newcomer of this row gets, in every attempt at the import. */
const newcomerId = ({ fresh }: Importing, { email }: Row): string => fresh.id(`employee ${email.toLowerCase()}`);

/** Undefined for a newcomer, also for one that an earlier attempt at this import has created. */
async function userOf(call: Importing, row: Row): Promise<string | undefined> {
  const { services, principal } = call;
  const holder = await services.ports.claimHolder(principal.tenantId, employeeEmailClaim(services.accountDigest(row.email)));
  const userId = holder === undefined ? undefined : streamSubject(holder);
  return userId === newcomerId(call, row) ? undefined : userId;
}

/** All or nothing (choice OP-054). Seats that others take meanwhile are told row by row. */
async function refuseTooMany({ ask }: Importing, newcomers: number): Promise<void> {
  const { maxUsers, currentUsers } = await ask(licenseUsage, { now: Date.now() });
  if (newcomers > 0 && currentUsers + newcomers > maxUsers) throw new FailureError(forbidden('license user limit reached'));
}

async function take(call: Importing, row: Row, userId: string | undefined): Promise<'imported' | 'updated' | 'unchanged'> {
  const { email, displayname: displayName, department, jobtitle: jobTitle } = row;
  if (userId !== undefined) {
    const { position } = await call.run(updateEmployee, { userId, displayName, department, jobTitle }, undefined, email);
    return position === undefined ? 'unchanged' : 'updated';
  }
  if (displayName === undefined) throw new FailureError(invalid('displayName', 'is required'));
  const described = { email, displayName, department: department ?? null, jobTitle: jobTitle ?? null, externalId: null };
  await call.run(createEmployee, { userId: newcomerId(call, row), ...described, source: 'import', isActive: true }, undefined, email);
  return 'imported';
}
