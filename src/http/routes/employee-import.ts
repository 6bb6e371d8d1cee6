import { z } from 'zod';
import { createEmployee } from '../../../commands/employees/create-employee.ts';
import { updateEmployee } from '../../../commands/employees/update-employee.ts';
import { licenseUsage } from '../../../queries/tenants/license-usage.ts';
import { employeeEmailClaim } from '../../domain/employees/employee.ts';
import { importedRows, type ImportRow } from '../../employees/import-file.ts';
import { importReport, ImportReport, type RowOutcome } from '../../employees/import-report.ts';
import { streamSubject } from '../../kernel/aggregate.ts';
import type { Position } from '../../kernel/event.ts';
import { FailureError, forbidden, invalid } from '../../kernel/failure.ts';
import { inParallel } from '../../kernel/in-parallel.ts';
import { admin } from '../access.ts';
import { isUnavailable } from '../errors.ts';
import { PartlyDone } from '../partly-done.ts';
import type { AdminPrincipal } from '../principal.ts';
import { route, type Call } from '../route.ts';
import { failureOfIssues } from '../validation.ts';

/** Choice OP-210. */
const MOST_BYTES = 5 * 1024 * 1024;
const AT_ONCE = 32;

type Importing = Pick<Call<undefined, undefined, undefined, AdminPrincipal>, 'execute' | 'seen' | 'ask' | 'services' | 'principal' | 'fresh'>;

/** A row, and whom it speaks of. */
interface Planned extends ImportRow {
  readonly userId: string;
  /** `earlier`: an earlier attempt at this request has created them. */
  readonly standing: 'newcomer' | 'earlier' | 'known';
}

export const employeeImport = route({
  method: 'POST',
  path: '/api/v1/admin/users/import',
  access: admin('employees:write'),
  summary: 'Add and change employees by a CSV file with the header email,displayName,department,jobTitle',
  consumes: 'multipart',
  file: { part: 'file', mostBytes: MOST_BYTES },
  body: z.object({ file: z.string().meta({ format: 'binary' }) }),
  answer: importReport,
  handle: async (call) => {
    // A place is taken when the file is there: a slow upload holds none.
    const file = await call.file();
    return call.services.limits.imports.run(call.principal.tenantId, () => importFile(call, file));
  },
});

async function importFile(call: Importing, file: Buffer) {
  const { rows, errors } = importedRows(file, failureOfIssues);
  const planned = await plan(call, rows);
  await refuseTooMany(call, planned.filter(({ standing }) => standing === 'newcomer').length);
  const report = new ImportReport(rows, errors);
  const { isInterrupted, position } = await importRows(call, planned, report);
  if (isInterrupted) throw new PartlyDone(report.body);
  // Once for all rows: each of them would wait for its own.
  await call.seen([...createEmployee.freshens!, ...updateEmployee.freshens!], position ?? (await call.services.head()));
  return report.body;
}

/** Ends with the first row that the store fails: what is under way is waited for, the rest is not begun. */
async function importRows(call: Importing, rows: readonly Planned[], report: ImportReport): Promise<{ isInterrupted: boolean; position: Position | undefined }> {
  let isInterrupted = false;
  let newest: Position | undefined;
  await inParallel(AT_ONCE, rows, async (row) => {
    if (isInterrupted) return;
    try {
      const { outcome, position } = await take(call, row);
      report.tell(row.row, outcome, row.userId);
      if (position !== undefined && position > (newest ?? -1n)) newest = position;
    } catch (error) {
      if (isUnavailable(error)) {
        isInterrupted = true;
        report.tell(row.row, 'unknown', row.userId);
      } else if (error instanceof FailureError) {
        report.refuse(row.row, error.failure.message);
      } else throw error;
    }
  });
  return { isInterrupted, position: newest };
}

/** Whom the rows speak of, and whether they are known: one look-up for all of them. */
async function plan({ services, principal, fresh }: Importing, rows: readonly ImportRow[]): Promise<Planned[]> {
  const claims = rows.map(({ email }) => employeeEmailClaim(services.accountDigest(email)));
  const holders = await services.ports.claimHolders(principal.tenantId, claims);
  return rows.map((row, at) => {
    // The same id in every attempt at the import.
    const newcomerId = fresh.id(`employee ${row.email.toLowerCase()}`);
    const holder = holders[at];
    const holderId = holder && streamSubject(holder);
    if (holderId === undefined) return { ...row, userId: newcomerId, standing: 'newcomer' };
    return { ...row, userId: holderId, standing: holderId === newcomerId ? 'earlier' : 'known' };
  });
}

/** All or nothing (choice OP-054). Seats that others take meanwhile are told row by row. */
async function refuseTooMany({ ask, services }: Importing, newcomers: number): Promise<void> {
  const isTooMany = async () => {
    const { maxUsers, currentUsers } = await ask(licenseUsage, { now: Date.now() });
    return currentUsers + newcomers > maxUsers;
  };
  if (newcomers === 0 || !(await isTooMany())) return;
  // Somebody may have been deleted a moment ago, or a larger license installed.
  await services.freshness.waitFor(['employees', 'tenants'], await services.head());
  if (await isTooMany()) throw new FailureError(forbidden('license user limit reached'));
}

async function take(call: Importing, planned: Planned): Promise<{ outcome: RowOutcome; position: Position | undefined }> {
  const { email, displayname: displayName, department, jobtitle: jobTitle, userId, standing } = planned;
  if (standing === 'known') {
    const { position } = await call.execute(updateEmployee, { userId, displayName, department, jobTitle }, undefined, email);
    return { outcome: position === undefined ? 'unchanged' : 'updated', position };
  }
  if (displayName === undefined) throw new FailureError(invalid('displayName', 'is required'));
  const described = { email, displayName, department: department ?? null, jobTitle: jobTitle ?? null, externalId: null };
  const { position } = await call.execute(createEmployee, { userId, ...described, source: 'import', isActive: true }, undefined, email);
  return { outcome: 'imported', position };
}
