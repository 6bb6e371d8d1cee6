import { z } from 'zod';
import { changeProvisionedEmployee } from '../../../../../commands/employees/change-provisioned-employee.ts';
import { provisionEmployee, type ProvisionEmployee } from '../../../../../commands/employees/provision-employee.ts';
import { unprovisionEmployee } from '../../../../../commands/employees/unprovision-employee.ts';
import type { WithAccountDigest, WithClaimHolders } from '../../../../../commands/ports.ts';
import {
  provisionedPeople,
  type ProvisionedPersonRow,
} from '../../../../../projections/employees/provisioned-people.ts';
import { getProvisionedPerson } from '../../../../../queries/employees/provisioned-people.ts';
import { groupsOfScimUsers, listScimUsers } from '../../../../../queries/scim/scim-users.ts';
import { employee, employeeStream } from '../../../../contexts/employees/domain/employee.ts';
import { linkWith } from '../../../../contexts/employees/domain/provisioned-changes.ts';
import type { EmployeeLink, ProvisionedPerson } from '../../../../contexts/employees/domain/provisioning.ts';
import { provisionPerson } from '../../../../contexts/employees/provision-person.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';
import type { Leniency } from '../../../../contexts/scim/domain/normalization.ts';
import { applyPatch, readPatch } from '../../../../contexts/scim/domain/patch.ts';
import { readResource, type ScimComplex } from '../../../../contexts/scim/domain/read-resource.ts';
import type { Selection } from '../../../../contexts/scim/domain/selection.ts';
import { personOf, userAttributes, userResource } from '../../../../contexts/scim/domain/user-resource.ts';
import { userType } from '../../../../contexts/scim/domain/user-schema.ts';
import type { AggregateLoader } from '../../../../platform/execution/aggregate-loader.ts';
import { FailureError, notFound, temporarilyUnavailable } from '../../../../platform/kernel/failure.ts';
import { newRow } from '../../../../platform/kernel/new-row.ts';
import { scimReader, scimWriter } from '../../access.ts';
import type { ScimPrincipal } from '../../principal.ts';
import { routeWith, type AnyRoute, type HandlerContext } from '../../route.ts';
import { scimErrorView, scimRefusal } from '../../scim-errors.ts';
import {
  SCIM,
  baseOf,
  expectedVersion,
  leniencyFor,
  listQuery,
  listRequestOf,
  scimBody,
  scimCaller,
  scimId,
  scimListRefuses,
  scimPatchRefuses,
  scimWriteRefuses,
  scimPageView,
  searchParameters,
  selectionIn,
  selectionQuery,
  sendList,
  sendResource,
  sourceOf,
} from './scim-request.ts';

export interface ScimUsersRouteDependencies {
  readonly lookups: Lookups;
  readonly loader: AggregateLoader;
  readonly ports: WithClaimHolders & WithAccountDigest;
}

const route = routeWith<ScimUsersRouteDependencies>();
type Call = HandlerContext<unknown, unknown, unknown, ScimPrincipal, ScimUsersRouteDependencies>;

const path = `${SCIM}/Users`;
const refusal = scimRefusal;
export const scimResource = z
  .looseObject({ schemas: z.array(z.string()), id: z.uuid() })
  .meta({ title: 'ScimResource' });

async function shown(
  { ask, principal, services, request }: Call,
  rows: readonly ProvisionedPersonRow[],
  selection: Selection,
): Promise<ScimComplex[]> {
  const { clientId, tenantId } = principal;
  const userIds = rows.map(({ user_id: userId }) => userId);
  const [base, groups] = await Promise.all([
    baseOf(request, tenantId, services),
    selection.hides('groups') ? undefined : ask(groupsOfScimUsers, { clientId, userIds }),
  ]);
  return rows.map((row) =>
    userResource(
      userAttributes({
        userName: row.user_name,
        externalId: row.external_id,
        isActive: row.is_active,
        profile: row.profile,
      }),
      { id: row.user_id, createdAt: row.created_at, modifiedAt: row.modified_at, version: row.version, base },
      groups?.get(row.user_id),
    ),
  );
}

async function answer(call: Call, row: ProvisionedPersonRow, selection: Selection): Promise<ScimComplex | undefined> {
  const [resource] = await shown(call, [row], selection);
  return sendResource(call.request, call.reply, selection, resource!);
}

async function list(call: Call, parameters: z.output<typeof listQuery>): Promise<object> {
  const wanted = listRequestOf(parameters);
  const selection = selectionIn(userType, parameters);
  const page = await call.ask(listScimUsers, { clientId: call.principal.clientId, ...wanted });
  const resources = (await shown(call, page.rows, selection)).map((resource) => selection.apply(resource));
  return sendList(call.reply, wanted, resources, page);
}

async function linkOf({ services, principal }: Call, userId: string): Promise<EmployeeLink> {
  const state = await services.loader.load(employee, employeeStream(principal.tenantId, userId));
  const link = linkWith(state, sourceOf(principal));
  if (state.status !== 'present' || !link) throw new FailureError(notFound());
  return link;
}

/** Changes of others that a request without `If-Match` waits out. */
const ATTEMPTS = 8;

/** The person is computed from the newest link, and stored only if that is still the newest. */
async function change(
  call: Call,
  userId: string,
  leniency: Leniency,
  personFrom: (link: EmployeeLink) => ProvisionedPerson,
): Promise<ProvisionedPersonRow> {
  const source = sourceOf(call.principal);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const link = await linkOf(call, userId);
    const expected = expectedVersion(call.request, link.version);
    const input = { userId, source, person: personFrom(link), ifVersion: link.version };
    try {
      await call.run(changeProvisionedEmployee, input, scimCaller(call.request, call.principal, leniency));
      return await call.ask(getProvisionedPerson, { source, userId });
    } catch (error) {
      if (!(error instanceof FailureError) || error.failure.kind !== 'stale' || expected !== undefined) throw error;
    }
  }
  throw new FailureError(temporarilyUnavailable('too_many_changes'));
}

const attributesOfLink = ({ profile, ...link }: EmployeeLink): ScimComplex =>
  userAttributes({ ...link, profile: profile === null ? null : (JSON.parse(profile) as unknown) });

export const scimUserRoutes: readonly AnyRoute<ScimUsersRouteDependencies>[] = [
  route({
    method: 'GET',
    path,
    access: scimReader,
    summary: 'List the users of this client',
    description:
      'RFC 7644 §3.4.2. `startIndex` counts from 1, `count` is 100 and at most 1000. `cursor` (empty for the first page) instead gives pages by RFC 9865.',
    query: listQuery,
    response: scimPageView,
    refuses: [...scimListRefuses, 'scim_invalid_value'],
    refusal,
    refusalView: scimErrorView,
    handle: (call) => list(call, call.query),
  }),
  route({
    method: 'POST',
    path: `${path}/.search`,
    access: scimReader,
    summary: 'Search the users of this client',
    operation: 'searchScimUsers',
    description: 'RFC 7644 §3.4.3: the parameters of the list in the body.',
    body: scimBody,
    response: scimPageView,
    refuses: scimListRefuses,
    refusal,
    refusalView: scimErrorView,
    handle: (call) => list(call, searchParameters(call.body)),
  }),
  route({
    method: 'POST',
    path,
    access: scimWriter,
    summary: 'Create a user',
    description:
      'An employee with the same e-mail whom no SCIM client has yet becomes a user of this client. 409 `uniqueness` if this client has the `userName` already, or if the employee belongs to another client. 403 if the license has no free seat.',
    query: selectionQuery,
    body: scimBody,
    status: 201,
    response: scimResource,
    refuses: [...scimWriteRefuses, 'license_user_limit'],
    sends: ['ETag'],
    refusal,
    refusalView: scimErrorView,
    handle: async (call) => {
      const { body, principal, services, fresh, run, created } = call;
      const [source, leniency] = [sourceOf(principal), leniencyFor(principal)];
      const person = personOf(readResource(userType, body, leniency), source);
      const input: ProvisionEmployee = { userId: fresh.id('employee'), source, person, ifLinked: 'refuse' };
      const caller = scimCaller(call.request, principal, leniency);
      let executed: Awaited<ReturnType<typeof run>> | undefined;
      const provision = async (command: ProvisionEmployee) => {
        const provisioned = await run(provisionEmployee, command, caller);
        executed = provisioned;
        return provisioned.result;
      };
      const isRetryable = call.request.headers['idempotency-key'] !== undefined;
      const { userId } = await provisionPerson(services.ports, principal.tenantId, input, provision, { isRetryable });
      const key = { source_kind: source.kind, source_id: source.id, user_id: userId };
      const row = await created(executed!, getProvisionedPerson, { source, userId }, (events) =>
        newRow(provisionedPeople, key, events),
      );
      return answer(call, row, selectionIn(userType, call.query));
    },
  }),
  route({
    method: 'GET',
    path: `${path}/{id}`,
    access: scimReader,
    summary: 'Get a user',
    params: scimId,
    query: selectionQuery,
    response: scimResource,
    sends: ['ETag'],
    refusal,
    refusalView: scimErrorView,
    handle: async (call) => {
      const row = await call.ask(getProvisionedPerson, { source: sourceOf(call.principal), userId: call.params.id });
      return answer(call, row, selectionIn(userType, call.query));
    },
  }),
  route({
    method: 'PUT',
    path: `${path}/{id}`,
    access: scimWriter,
    summary: 'Replace a user',
    description: 'Attributes that are left out are cleared, except `active`, which keeps its value.',
    params: scimId,
    query: selectionQuery,
    body: scimBody,
    response: scimResource,
    refuses: scimWriteRefuses,
    sends: ['ETag'],
    refusal,
    refusalView: scimErrorView,
    handle: async (call) => {
      const leniency = leniencyFor(call.principal);
      const resource = readResource(userType, call.body, leniency);
      const source = sourceOf(call.principal);
      const row = await change(call, call.params.id, leniency, ({ isActive }) =>
        personOf({ active: isActive, ...resource }, source),
      );
      return answer(call, row, selectionIn(userType, call.query));
    },
  }),
  route({
    method: 'PATCH',
    path: `${path}/{id}`,
    access: scimWriter,
    summary: 'Change a user',
    description: 'RFC 7644 §3.5.2. All operations are carried out, or none.',
    params: scimId,
    query: selectionQuery,
    body: scimBody,
    response: scimResource,
    refuses: scimPatchRefuses,
    sends: ['ETag'],
    refusal,
    refusalView: scimErrorView,
    handle: async (call) => {
      const leniency = leniencyFor(call.principal);
      const operations = readPatch(userType, call.body, leniency);
      const source = sourceOf(call.principal);
      const row = await change(call, call.params.id, leniency, (link) =>
        personOf(applyPatch(userType, attributesOfLink(link), operations, leniency), source),
      );
      return answer(call, row, selectionIn(userType, call.query));
    },
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}`,
    access: scimWriter,
    summary: 'Delete a user',
    description:
      'The employee becomes inactive and keeps their history; devices, sessions and codes end. The same person can be created again.',
    params: scimId,
    refusal,
    refusalView: scimErrorView,
    handle: async (call) => {
      const { principal, request, params } = call;
      const { version } = await linkOf(call, params.id);
      const ifVersion = expectedVersion(request, version);
      const input = { userId: params.id, source: sourceOf(principal), how: 'deactivate' as const, ifVersion };
      await call.run(unprovisionEmployee, input, scimCaller(request, principal, leniencyFor(principal)));
    },
  }),
];
