import { carryOutErasure } from '../../../commands/employees/carry-out-erasure.ts';
import { erasePerson } from '../../../commands/employees/erase-person.ts';
import {
  employee,
  employeeEmailClaim,
  employeeStream,
  type EmployeeState,
} from '../../contexts/employees/domain/employee.ts';
import { system } from '../../platform/kernel/actor.ts';
import { streamSubject } from '../../platform/kernel/aggregate.ts';
import { FailureError, notFound, orThrow } from '../../platform/kernel/failure.ts';
import { isUuid, type TenantId } from '../../platform/kernel/ids.ts';
import { findTenant, type FindTenantDependencies } from '../../contexts/tenants/find-tenant.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { CommandPorts, WithAccountDigest, WithClaimHolder } from '../../../commands/ports.ts';

export type EmployeesCliDependencies = FindTenantDependencies & {
  readonly store: EventStore;
  readonly executor: Executor<CommandPorts>;
  readonly ports: WithAccountDigest & WithClaimHolder;
};

/** Erases an employee permanently. Throws `FailureError` if there is no such tenant or person. */
export async function erasePersonAsOperator(
  services: EmployeesCliDependencies,
  named: NamedEmployee,
): Promise<Omit<FoundEmployee, 'status'>> {
  const { tenantId, userId } = await findPersonAsOperator(services, named);
  const issuer = { tenantId, actor: system('castellan person erase') };
  orThrow(await services.executor.execute(erasePerson, { userId }, issuer));
  orThrow(await services.executor.execute(carryOutErasure, { userId }, issuer));
  await services.store.forgetTelemetryOf(tenantId, userId);
  return { tenantId, userId };
}

/** An employee, as an operator names it: the tenant's id or slug, and the person's id or (if not deleted) e-mail. */
export interface NamedEmployee {
  readonly tenant: string;
  readonly person: string;
}

export interface FoundEmployee {
  readonly tenantId: TenantId;
  readonly userId: string;
  readonly status: EmployeeState['status'];
}

/** Throws `FailureError` if there is no such tenant or person. */
export async function findPersonAsOperator(
  services: EmployeesCliDependencies,
  { tenant, person }: NamedEmployee,
): Promise<FoundEmployee> {
  const tenantId = await findTenant(services, tenant);
  const userId = await findPerson(services, tenantId, person);
  const { status } = await services.loader.load(employee, employeeStream(tenantId, userId));
  if (status === 'none') throw new FailureError(notFound('not_found', 'there is no such employee'));
  return { tenantId, userId, status };
}

async function findPerson({ ports }: EmployeesCliDependencies, tenantId: TenantId, person: string): Promise<string> {
  if (isUuid(person)) return person.toLowerCase();
  const stream = await ports.claimHolder(tenantId, employeeEmailClaim(ports.accountDigest(person)));
  if (!stream) throw new FailureError(notFound('not_found', 'there is no employee with this e-mail'));
  return streamSubject(stream);
}
