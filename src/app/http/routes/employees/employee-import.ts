import { z } from 'zod';
import { createEmployee, type CreateEmployee } from '../../../../../commands/employees/create-employee.ts';
import { updateEmployee } from '../../../../../commands/employees/update-employee.ts';
import { describedEmployees, type DescribedEmployee } from '../../../../../queries/employees/described-employees.ts';
import { licenseUsage } from '../../../../../queries/tenants/license-usage.ts';
import { employeeEmailClaim } from '../../../../contexts/employees/domain/employee.ts';
import { importedRows, type ImportRow } from '../../../../contexts/employees/import-file.ts';
import { importReport, ImportReport, type RowOutcome } from '../../../../contexts/employees/import-report.ts';
import { streamSubject } from '../../../../platform/kernel/aggregate.ts';
import { FailureError, forbidden, invalid, isFailure } from '../../../../platform/kernel/failure.ts';
import { inParallel } from '../../../../platform/kernel/in-parallel.ts';
import { admin } from '../../access.ts';
import { isUnavailable } from '../../errors.ts';
import { PartialCompletion } from '../../partial-completion.ts';
import type { AdminPrincipal } from '../../principal.ts';
import { routeWith, type HandlerContext } from '../../route.ts';
import { fieldsOfIssues } from '../../wrong-fields.ts';
import type { WithClaimHolders } from '../../../../../commands/ports.ts';
import type { Freshness } from '../../../../platform/projector/freshness.ts';
import type { Limits } from '../../../config/limits.ts';
import type { Position } from '../../../../platform/kernel/event.ts';

export interface EmployeeImportRouteDependencies {
  readonly ports: WithClaimHolders;
  readonly freshness: Freshness;
  accountDigest(email: string): string;
  readonly limits: Limits;
  head(): Promise<Position>;
}

const route = routeWith<EmployeeImportRouteDependencies>();

/** Choice OP-210. */
const MAX_BYTES = 5 * 1024 * 1024;
/** Rows whose employees are looked up together: their digests are computed in one turn of the event loop. */
const LOOKED_UP_TOGETHER = 500;
/**
 * New employees that are created together, and other rows that are stored at the same time. More newcomers at once are no
 * faster, and hold up other requests: with 256 the event loop was blocked for 40 to 100 ms, with 64 for 16.
 */
const PACES = [
  { together: 64, atOnce: 24 },
  // After a failure of the store.
  { together: 8, atOnce: 8 },
] as const;
type Pace = (typeof PACES)[number];

type Importing = Pick<
  HandlerContext<undefined, undefined, undefined, AdminPrincipal, EmployeeImportRouteDependencies>,
  'execute' | 'executeAll' | 'waitFor' | 'ask' | 'services' | 'principal' | 'fresh'
>;

/** A row of the file and its employee. */
interface Planned extends ImportRow {
  readonly userId: string;
  /** `earlier`: created by an earlier attempt at this request. `same`: known, and the row changes nothing. */
  readonly standing: 'newcomer' | 'earlier' | 'known' | 'same';
}

export const employeeImport = route({
  method: 'POST',
  path: '/api/v1/admin/users/import',
  isBulk: true,
  access: admin('employees:write'),
  summary: 'Import employees from a CSV file',
  refuses: ['file_too_long', 'license_user_limit'],
  description:
    'Adds and changes employees. The header is `email,displayName,department,jobTitle`; at most 5 MiB (413). New employees beyond the license limit refuse the whole file (403). 503 if the store failed in the middle: the body reports the rows that were stored; send the same file again.',
  consumes: 'multipart',
  file: { part: 'file', mostBytes: MAX_BYTES },
  body: z.object({ file: z.string().meta({ format: 'binary' }) }),
  response: importReport,
  handle: async (call) => {
    // Enter the limiter after the upload, so that a slow upload holds no place.
    const file = await call.file();
    return call.services.limits.imports.run(call.principal.tenantId, () => importFile(call, file));
  },
});

async function importFile(call: Importing, file: Buffer) {
  const { rows, errors } = await importedRows(file, fieldsOfIssues);
  const planned = await withoutRepetitions(call, await plan(call, rows));
  await refuseTooMany(call, planned.filter(({ standing }) => standing === 'newcomer').length);
  const report = new ImportReport(rows, errors);
  let left: readonly Planned[] = planned;
  // After a failure of the store, retry once with less concurrency.
  for (const pace of PACES) if (left.length > 0) left = await importRows(call, left, report, pace);
  if (left.length > 0) throw new PartialCompletion(report.body);
  // Wait once for all rows.
  await call.waitFor([...createEmployee.freshens!, ...updateEmployee.freshens!], await call.services.head());
  return report.body;
}

/** Imports rows until the store fails; then no further row is started. Returns the rows that are left. */
async function importRows(
  call: Importing,
  rows: readonly Planned[],
  report: ImportReport,
  { together, atOnce }: Pace,
): Promise<readonly Planned[]> {
  const left = new Set(rows);
  let isInterrupted = false;
  const concluded = (row: Planned, outcome: RowOutcome) => {
    report.tell(row.row, outcome, row.userId);
    left.delete(row);
  };
  const failed = (row: Planned, error: unknown) => {
    if (isUnavailable(error)) {
      isInterrupted = true;
      report.tell(row.row, 'unknown', row.userId);
    } else if (error instanceof FailureError) {
      report.refuse(row.row, error.failure.message);
      left.delete(row);
    } else throw error;
  };
  const newcomers = rows.filter(isNewcomer);
  for (let at = 0; at < newcomers.length && !isInterrupted; at += together) {
    const part = newcomers.slice(at, at + together);
    for (const [index, error] of (await createTogether(call, part)).entries())
      if (error === undefined) concluded(part[index]!, 'imported');
      else failed(part[index]!, error);
  }
  const others = rows.filter((row) => !isNewcomer(row));
  await inParallel(atOnce, others, async (row) => {
    if (isInterrupted) return;
    try {
      concluded(row, await take(call, row));
    } catch (error) {
      failed(row, error);
    }
  });
  return isInterrupted ? notStored(call, [...left], report) : [];
}

type Newcomer = Planned & { readonly displayName: string };
const isNewcomer = (row: Planned): row is Newcomer => row.standing === 'newcomer' && row.displayName !== undefined;

/** Returns the error of each row, or undefined where the employee was created. */
async function createTogether(call: Importing, rows: readonly Newcomer[]): Promise<unknown[]> {
  try {
    const outcomes = await call.executeAll(createEmployee, rows.map(creationOf), ({ email }) => email);
    return outcomes.map((outcome) => (isFailure(outcome) ? new FailureError(outcome) : undefined));
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return rows.map(() => error);
  }
}

const creationOf = ({ userId, email, displayName, department, jobTitle }: Newcomer): CreateEmployee => ({
  userId,
  email,
  displayName,
  department: department ?? null,
  jobTitle: jobTitle ?? null,
  externalId: null,
  source: 'import',
  isActive: true,
});

/** Removes rows that were created although the reply was lost. Returns all rows if the store is unavailable. */
async function notStored(
  { services, principal }: Importing,
  rows: readonly Planned[],
  report: ImportReport,
): Promise<readonly Planned[]> {
  const newcomers = rows.filter(({ standing }) => standing === 'newcomer' || standing === 'earlier');
  try {
    const holders = await holdersOf(services, principal, newcomers);
    const stored = newcomers.filter(
      ({ userId }, at) => holders[at] !== undefined && streamSubject(holders[at]) === userId,
    );
    for (const { row, userId } of stored) report.tell(row, 'imported', userId);
    return rows.filter((row) => !stored.includes(row));
  } catch (error) {
    if (isUnavailable(error)) return rows;
    throw error;
  }
}

const holdersOf = (services: Importing['services'], { tenantId }: AdminPrincipal, rows: readonly ImportRow[]) =>
  services.ports.claimHolders(
    tenantId,
    rows.map(({ email }) => employeeEmailClaim(services.accountDigest(email))),
  );

/** Finds the employees of all rows. */
async function plan(call: Importing, rows: readonly ImportRow[]): Promise<Planned[]> {
  const planned: Planned[] = [];
  for (let at = 0; at < rows.length; at += LOOKED_UP_TOGETHER)
    planned.push(...(await planPart(call, rows.slice(at, at + LOOKED_UP_TOGETHER))));
  return planned;
}

async function planPart({ services, principal, fresh }: Importing, rows: readonly ImportRow[]): Promise<Planned[]> {
  const holders = await holdersOf(services, principal, rows);
  return rows.map((row, at) => {
    // The id is the same in every attempt at the import.
    const newcomerId = fresh.id(`employee ${row.email.toLowerCase()}`);
    const holder = holders[at];
    const holderId = holder && streamSubject(holder);
    if (holderId === undefined) return { ...row, userId: newcomerId, standing: 'newcomer' };
    return { ...row, userId: holderId, standing: holderId === newcomerId ? 'earlier' : 'known' };
  });
}

/**
 * Marks rows that repeat what is stored, so that importing the same file again writes nothing (OP-353). Personal values are
 * sealed in the log, so they are compared with the read model, and only once it shows everything that was written before.
 */
async function withoutRepetitions(call: Importing, rows: readonly Planned[]): Promise<readonly Planned[]> {
  const known = rows.filter(({ standing }) => standing === 'known');
  const { ask, services } = call;
  if (known.length === 0 || !(await services.freshness.waitFor(['employees'], await services.head()))) return rows;
  const stored = await ask(describedEmployees, { userIds: known.map(({ userId }) => userId) });
  const byId = new Map(stored.map((employee) => [employee.user_id, employee]));
  return rows.map((row) =>
    row.standing === 'known' && repeats(row, byId.get(row.userId)) ? { ...row, standing: 'same' } : row,
  );
}

/** An empty cell keeps the stored value. */
const repeats = (row: ImportRow, stored: DescribedEmployee | undefined): boolean =>
  stored !== undefined &&
  [
    [row.displayName, stored.display_name],
    [row.department, stored.department],
    [row.jobTitle, stored.job_title],
  ].every(([given, kept]) => given === undefined || given === kept);

/** Refuses the whole file if there are too few seats (choice OP-054). Seats taken meanwhile fail single rows. */
async function refuseTooMany({ ask, services }: Importing, newcomers: number): Promise<void> {
  const isTooMany = async () => {
    const { maxUsers, currentUsers } = await ask(licenseUsage, { now: Date.now() });
    return currentUsers + newcomers > maxUsers;
  };
  if (newcomers === 0 || !(await isTooMany())) return;
  // Check again on fresh data: an employee may just have been deleted, or a larger license installed.
  await services.freshness.waitFor(['employees', 'tenants'], await services.head());
  if (await isTooMany()) throw new FailureError(forbidden('license_user_limit'));
}

async function take(call: Importing, planned: Planned): Promise<RowOutcome> {
  const { email, displayName, department, jobTitle, userId, standing } = planned;
  if (standing === 'same' || standing === 'known') {
    // Without changes the command writes nothing, but finds what an earlier attempt at this request wrote.
    const changes = standing === 'same' ? {} : { displayName, department, jobTitle };
    const { position } = await call.execute(updateEmployee, { userId, ...changes }, undefined, email);
    return position === undefined ? 'unchanged' : 'updated';
  }
  if (displayName === undefined) throw new FailureError(invalid('displayName', 'is required'));
  await call.execute(createEmployee, creationOf({ ...planned, displayName }), undefined, email);
  return 'imported';
}
