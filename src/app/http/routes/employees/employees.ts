import { z } from 'zod';
import { createEmployee } from '../../../../../commands/employees/create-employee.ts';
import { deleteEmployee } from '../../../../../commands/employees/delete-employee.ts';
import { carryOutErasure } from '../../../../../commands/employees/carry-out-erasure.ts';
import { erasePerson } from '../../../../../commands/employees/erase-person.ts';
import { updateEmployee } from '../../../../../commands/employees/update-employee.ts';
import { employeeStatuses, employeeView } from '../../../../../queries/employees/employee-view.ts';
import { getEmployee, viewOfNewEmployee } from '../../../../../queries/employees/get-employee.ts';
import { getOffboarding, offboardingView } from '../../../../../queries/employees/get-offboarding.ts';
import { employeeOrder, listEmployees } from '../../../../../queries/employees/list-employees.ts';
import { employeeEmailField } from '../../../../contexts/employees/domain/employee-email.ts';
import { telemetryForgetting } from '../../../../contexts/employees/forget-telemetry.ts';
import { FailureError, forbidden } from '../../../../platform/kernel/failure.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { admin, adminReauthenticatedWhere } from '../../access.ts';
import { keysetQuery, keysetView, withNextMark } from '../../keyset-query.ts';
import { toPage } from '../../list-query.ts';
import { permits } from '../../../../contexts/identity/domain/permissions.ts';
import { truthText } from '../../query-types.ts';
import { routeWith, type HandlerContext, type RouteGroup } from '../../route.ts';
import { employeeImport, type EmployeeImportRouteDependencies } from './employee-import.ts';
import type { Jobs } from '../../../../platform/jobs/jobs.ts';
import { namingOwners } from './named-owners.ts';
import { nameField } from '../../../../platform/kernel/name-field.ts';

export interface EmployeesRouteDependencies extends EmployeeImportRouteDependencies {
  readonly jobs: Jobs;
}

const route = routeWith<EmployeesRouteDependencies>();

const base = '/api/v1/admin/users';
const params = z.object({ userID: uuid() });
const name = nameField();
const detail = z
  .string()
  .trim()
  .max(200)
  .nullable()
  .transform((text) => text || null);
const newDetail = detail.optional().transform((text) => text ?? null);

const newEmployee = z.object({
  email: employeeEmailField,
  displayName: name,
  department: newDetail,
  jobTitle: newDetail,
});
const changes = z.object({
  email: employeeEmailField.optional(),
  displayName: name.optional(),
  department: detail.optional(),
  jobTitle: detail.optional(),
  /** Only active or inactive can be set. `pending` also means active, because enrollment is not settable. */
  status: z.enum(employeeStatuses).optional(),
});

/** Concurrent deletions: enough to share commits, few enough to leave room for other requests. */
const AT_ONCE = 25;

type Deleting = Pick<HandlerContext<undefined, undefined, unknown>, 'run'>;

/** Deletes the employees, with one event each. Returns the ids that were not found. */
async function deleteAll({ run }: Deleting, userIds: readonly string[]): Promise<string[]> {
  const notFound: string[] = [];
  for (let from = 0; from < userIds.length; from += AT_ONCE) {
    const deletions = userIds.slice(from, from + AT_ONCE).map(async (userId) => {
      try {
        await run(deleteEmployee, { userId });
      } catch (error) {
        if (!(error instanceof FailureError) || error.failure.kind !== 'notFound') throw error;
        notFound.push(userId);
      }
    });
    await Promise.all(deletions);
  }
  return notFound;
}

export const employeeRoutes: RouteGroup<EmployeesRouteDependencies> = {
  area: 'employees',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('employees:read'),
      summary: 'List employees',
      description: 'Newest first.',
      query: z.object({
        ...keysetQuery(employeeOrder),
        search: z.string().max(200).optional(),
        department: z.string().max(200).optional(),
        status: z.enum(employeeStatuses).optional(),
      }),
      response: z.object({ users: z.array(employeeView), ...keysetView }),
      handle: async ({ ask, query }) =>
        withNextMark(
          employeeOrder,
          await ask(listEmployees, {
            ...toPage(query),
            search: query.search || undefined,
            department: query.department || undefined,
            status: query.status,
          }),
        ),
    }),
    route({
      method: 'POST',
      path: base,
      access: admin('employees:write'),
      summary: 'Add an employee',
      refuses: ['already_exists', 'license_user_limit'],
      body: newEmployee,
      status: 201,
      response: employeeView,
      handle: async ({ run, created, body, fresh }) => {
        const userId = fresh.id('employee');
        const executed = await run(createEmployee, {
          ...body,
          userId,
          externalId: null,
          source: 'manual',
          isActive: true,
        });
        return created(executed, getEmployee, { userId }, viewOfNewEmployee(userId));
      },
    }),
    route({
      method: 'DELETE',
      path: `${base}/bulk`,
      access: admin('employees:write'),
      summary: 'Delete up to 500 employees',
      operation: 'deleteUsers',
      description: 'Unknown ids are returned in `notFound`.',
      body: z.object({ userIds: z.array(uuid()).min(1).max(500) }),
      response: z.object({ deleted: z.int(), notFound: z.array(z.uuid()) }),
      handle: async ({ run, body }) => {
        const userIds = [...new Set(body.userIds)];
        const notFound = await deleteAll({ run }, userIds);
        return { deleted: userIds.length - notFound.length, notFound };
      },
    }),
    employeeImport,
    route({
      method: 'GET',
      path: `${base}/{userID}`,
      access: admin('employees:read'),
      summary: 'Get an employee',
      params,
      response: employeeView,
      handle: ({ ask, params: { userID } }) => ask(getEmployee, { userId: userID }),
    }),
    route({
      method: 'GET',
      path: `${base}/{userID}/offboarding`,
      access: admin('employees:read'),
      summary: 'Get the receipt of an offboarding',
      description:
        'What ended when the person left, with each step, its time and its event: also of deleted and erased persons. 404 for a person who never left.',
      params,
      response: offboardingView,
      handle: ({ ask, params: { userID } }) => ask(getOffboarding, { userId: userID, now: Date.now() }),
    }),
    route({
      method: 'PUT',
      path: `${base}/{userID}`,
      access: adminReauthenticatedWhere('employees:write', 'the e-mail changes'),
      summary: 'Change an employee',
      refuses: ['already_exists', 'owned_by_source'],
      description: 'Fields that are left out keep their values.',
      params,
      body: changes,
      response: employeeView,
      handle: async ({ run, ask, principal, params: { userID: userId }, body: { status, ...body } }) => {
        const change = run(updateEmployee, {
          ...body,
          userId,
          reauthenticated: principal.reauthenticated,
          ...(status === undefined ? {} : { isActive: status !== 'inactive' }),
        });
        await namingOwners(change, ask);
        return ask(getEmployee, { userId });
      },
    }),
    route({
      method: 'DELETE',
      path: `${base}/{userID}`,
      access: adminReauthenticatedWhere('employees:write', 'erase=true'),
      summary: 'Delete or erase an employee',
      description:
        '`erase=true` (super admins only) permanently erases all personal data, also of an employee who was deleted before.',
      params,
      query: z.object({ erase: truthText().optional() }),
      handle: async ({ run, principal, services, params: { userID: userId }, query }) => {
        if (!query.erase) {
          await run(deleteEmployee, { userId });
          return;
        }
        if (!permits(principal.role, 'employees:erase')) throw new FailureError(forbidden());
        await run(erasePerson, { userId, reauthenticated: principal.reauthenticated });
        const { position } = await run(carryOutErasure, { userId });
        // A reaction anonymizes telemetry after the event. For an earlier erasure there is no event, so enqueue the job.
        if (position === undefined)
          await services.jobs.enqueue(telemetryForgetting, { tenantId: principal.tenantId, userId });
      },
    }),
  ],
};
