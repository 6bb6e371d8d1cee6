import { amendProvisionedEmployee } from '../../../../../commands/employees/change-provisioned-employee.ts';
import {
  provisionEmployee,
  provisionNewcomer,
  type ProvisionEmployee,
} from '../../../../../commands/employees/provision-employee.ts';
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
import {
  folded,
  type EmployeeLink,
  type ProvisionedPerson,
} from '../../../../contexts/employees/domain/provisioning.ts';
import { provisionPerson } from '../../../../contexts/employees/provision-person.ts';
import type { ReadyPersonIds } from '../../../../contexts/employees/ready-person-ids.ts';
import type { SameCreations } from '../../../../contexts/employees/same-creations.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';
import type { Leniency } from '../../../../contexts/scim/domain/normalization.ts';
import { applyPatch } from '../../../../contexts/scim/domain/patch.ts';
import type { ScimComplex } from '../../../../contexts/scim/domain/read-resource.ts';
import {
  personOf,
  statedNameOf,
  userAttributes,
  userResource,
} from '../../../../contexts/scim/domain/user-resource.ts';
import { userType } from '../../../../contexts/scim/domain/user-schema.ts';
import type { AggregateLoader } from '../../../../platform/execution/aggregate-loader.ts';
import { FailureError, notFound, type Failure } from '../../../../platform/kernel/failure.ts';
import { newRow } from '../../../../platform/kernel/new-row.ts';
import type { AnyRoute } from '../../route.ts';
import { expectedVersion, foundOrLate, leniencyFor, refuseStale, scimCaller, sourceOf } from './scim-request.ts';
import { scimResourceRoutes, type ScimCall, type ScimResource } from './scim-resource.ts';

export interface ScimUsersRouteDependencies {
  readonly lookups: Lookups;
  readonly loader: AggregateLoader;
  readonly readyPersonIds: ReadyPersonIds;
  readonly sameCreations: SameCreations;
  readonly ports: WithClaimHolders & WithAccountDigest;
}

type Call = ScimCall<ScimUsersRouteDependencies>;

async function linkOf({ services, principal }: Call, userId: string): Promise<EmployeeLink> {
  const state = await services.loader.load(employee, employeeStream(principal.tenantId, userId));
  const link = linkWith(state, sourceOf(principal));
  if (state.status !== 'present' || !link) throw new FailureError(notFound());
  return link;
}

/** The person is computed here to refuse what is wrong, and again from the newest link where the change is decided. */
async function change(
  call: Call,
  userId: string,
  leniency: Leniency,
  personFrom: (link: EmployeeLink) => ProvisionedPerson,
): Promise<ProvisionedPersonRow> {
  const source = sourceOf(call.principal);
  const link = await linkOf(call, userId);
  const ifVersion = expectedVersion(call.request, link.version);
  personFrom(link);
  const input = { userId, source, personFrom: orFailure(personFrom), ifVersion };
  await call.run(amendProvisionedEmployee, input, scimCaller(call.request, call.principal, leniency));
  refuseStale(call.reply);
  return call.ask(getProvisionedPerson, { source, userId });
}

const orFailure =
  (personFrom: (link: EmployeeLink) => ProvisionedPerson) =>
  (link: EmployeeLink): ProvisionedPerson | Failure => {
    try {
      return personFrom(link);
    } catch (error) {
      if (error instanceof FailureError) return error.failure;
      throw error;
    }
  };

const attributesOfLink = ({ profile, ...link }: EmployeeLink): ScimComplex =>
  userAttributes({ ...link, profile: profile === null ? null : (JSON.parse(profile) as unknown) });

const earlierUser = (link: EmployeeLink) => ({ attributes: attributesOfLink(link), displayName: link.displayName });

const scimUsers: ScimResource<ScimUsersRouteDependencies, ProvisionedPersonRow> = {
  type: userType,
  noun: 'user',
  plural: 'Users',
  described: {
    list: {
      description:
        'RFC 7644 §3.4.2. `startIndex` counts from 1, `count` is 100 and at most 1000. `cursor` (empty for the first page) instead gives pages by RFC 9865.',
    },
    create: {
      description:
        'An employee with the same e-mail whom no SCIM client has yet becomes a user of this client; without `active`, one who is inactive stays so, and without a name the employee keeps theirs. 409 `uniqueness` if this client has the `userName`, `externalId` or e-mail already, also of an inactive user, or if the employee belongs to another client. 403 if the license has no free seat.',
      refuses: ['license_user_limit'],
    },
    get: {},
    replace: { description: 'Attributes that are left out are cleared, except `active`, which keeps its value.' },
    patch: { description: 'RFC 7644 §3.5.2. All operations are carried out, or none.' },
    remove: {
      description:
        'The employee becomes inactive and keeps their history; devices, sessions and codes end. The same person can be created again, and is active again with `active` true.',
    },
  },

  list: ({ ask, principal }, request) => ask(listScimUsers, { clientId: principal.clientId, ...request }),

  get: (call, userId) =>
    foundOrLate(call.ask(getProvisionedPerson, { source: sourceOf(call.principal), userId }), () =>
      linkOf(call, userId),
    ),

  async create({ principal, services, request, fresh, run, created }, resource, leniency) {
    const source = sourceOf(principal);
    const person = personOf(resource, source);
    const keepsStatus = resource['active'] === undefined;
    const keepsName = statedNameOf(resource) === undefined;
    const isRetryable = request.headers['idempotency-key'] !== undefined;
    const { tenantId } = principal;
    const caller = scimCaller(request, principal, leniency);
    let executed: Awaited<ReturnType<typeof run>> | undefined;
    const provision = async (command: ProvisionEmployee, isNewcomer: boolean) => {
      const provisioned = await run(isNewcomer ? provisionNewcomer : provisionEmployee, command, caller);
      executed = provisioned;
      return provisioned.result;
    };
    const make = (id: string) =>
      provisionPerson(
        services.ports,
        tenantId,
        { userId: id, source, person, ifLinked: 'refuse', keepsStatus, keepsName },
        provision,
        { isRetryable },
      );
    const newId = () => fresh.id('employee');
    const { userId, outcome } = await services.sameCreations.afterFirst(
      `${tenantId}/${source.id}/${folded(person.userName)}`,
      () => (isRetryable ? make(newId()) : services.readyPersonIds.withId(tenantId, newId, make)),
    );
    const key = { source_kind: source.kind, source_id: source.id, user_id: userId };
    // The row has been written. Of a new employee the events of this request are all that it is folded from.
    const isNew = outcome === 'created' && !isRetryable;
    const own = isNew ? newRow(provisionedPeople, key, await executed!.recorded()) : undefined;
    const row =
      own ??
      (await created(executed!, getProvisionedPerson, { source, userId }, (events) =>
        newRow(provisionedPeople, key, events),
      ));
    return { row, isNew };
  },

  replace(call, userId, resource, leniency) {
    const source = sourceOf(call.principal);
    return change(call, userId, leniency, (link) =>
      personOf({ active: link.isActive, ...resource }, source, earlierUser(link)),
    );
  },

  patch(call, userId, operations, leniency) {
    const source = sourceOf(call.principal);
    return change(call, userId, leniency, (link) => {
      const before = earlierUser(link);
      return personOf(applyPatch(userType, before.attributes, operations, leniency), source, before);
    });
  },

  async remove(call, userId) {
    const { principal, request } = call;
    const { version } = await linkOf(call, userId);
    const ifVersion = expectedVersion(request, version);
    const input = { userId, source: sourceOf(principal), how: 'deactivate' as const, ifVersion };
    await call.run(unprovisionEmployee, input, scimCaller(request, principal, leniencyFor(principal)));
  },

  async shown({ ask, principal }, rows, { selection, base, isNew }) {
    const userIds = rows.map(({ user_id: userId }) => userId);
    const groups =
      isNew || selection.hides('groups')
        ? undefined
        : await ask(groupsOfScimUsers, { clientId: principal.clientId, userIds });
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
  },
};

export const scimUserRoutes: readonly AnyRoute<ScimUsersRouteDependencies>[] = scimResourceRoutes(scimUsers);
