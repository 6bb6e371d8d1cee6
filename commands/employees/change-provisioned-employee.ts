import { employee, employeeStream, type EmployeeState } from '../../src/contexts/employees/domain/employee.ts';
import type { EmployeeEvent } from '../../src/contexts/employees/domain/events.ts';
import { changesBy, linkWith } from '../../src/contexts/employees/domain/provisioned-changes.ts';
import {
  asStatement,
  type EmployeeLink,
  type ProvisionedPerson,
  type ProvisioningSource,
} from '../../src/contexts/employees/domain/provisioning.ts';
import { acceptWith, defineCommand, type Decision } from '../../src/platform/kernel/command.ts';
import { isFailure, notFound, stale, type Failure } from '../../src/platform/kernel/failure.ts';
import type { WithAccountDigest } from '../ports.ts';
import { linkVersionAfter } from './provision-employee.ts';

interface OfPerson {
  readonly userId: string;
  readonly source: ProvisioningSource;
  /** The change is refused unless the link has this version. */
  readonly ifVersion?: number | undefined;
}

interface ChangeProvisionedEmployee extends OfPerson {
  /** The complete new statement of the source. */
  readonly person: ProvisionedPerson;
}

interface AmendProvisionedEmployee extends OfPerson {
  /** The complete new statement, from the newest one. Pure: it is called once for each attempt. */
  readonly personFrom: (link: EmployeeLink) => ProvisionedPerson | Failure;
}

interface Changed {
  readonly version: number;
  readonly changed: boolean;
}

/** A source changes a person whom it has linked. Fields that a source with precedence owns keep its values. */
export const changeProvisionedEmployee = defineCommand({
  name: 'ChangeProvisionedEmployee',
  aggregate: employee,
  stream: ({ userId }: ChangeProvisionedEmployee, { tenantId }) => employeeStream(tenantId, userId),
  prepare: async ({ person }: ChangeProvisionedEmployee, { accountDigest }: WithAccountDigest) => ({
    emailDigest: accountDigest(person.email),
  }),
  decide: (state, { person, ...of }, _context, { emailDigest }: { emailDigest: string }) =>
    changeOf(
      state,
      of,
      () => person,
      () => emailDigest,
    ),
  recall: (before, events, { source }) => recalledChange(before, events, source),
  freshens: ['employees', 'provisioned_people', 'live-state'],
});

/**
 * The same for a change that builds on what the source said before. It is computed where it is decided, so of many at
 * once none has to be repeated because of another one.
 */
export const amendProvisionedEmployee = defineCommand({
  name: 'AmendProvisionedEmployee',
  aggregate: employee,
  stream: ({ userId }: AmendProvisionedEmployee, { tenantId }) => employeeStream(tenantId, userId),
  prepare: async (_input: AmendProvisionedEmployee, { accountDigest }: WithAccountDigest) => ({ accountDigest }),
  decide: (state, { personFrom, ...of }, _context, { accountDigest }: WithAccountDigest) =>
    changeOf(state, of, personFrom, accountDigest),
  recall: (before, events, { source }) => recalledChange(before, events, source),
  freshens: ['employees', 'provisioned_people', 'live-state'],
});

function changeOf(
  state: EmployeeState,
  { userId, source, ifVersion }: OfPerson,
  personFrom: AmendProvisionedEmployee['personFrom'],
  digestOf: (email: string) => string,
): Decision<EmployeeEvent, Changed> | Failure {
  const link = linkWith(state, source);
  if (state.status !== 'present' || !link) return notFound();
  if (ifVersion !== undefined && ifVersion !== link.version) return stale();
  const person = personFrom(link);
  if (isFailure(person)) return person;
  const statement = asStatement(source, person);
  const { events, version, ...claims } = changesBy(state, userId, source, statement, digestOf(person.email));
  return acceptWith({ version, changed: events.length > 0 }, events, claims);
}

function recalledChange(before: EmployeeState, events: readonly EmployeeEvent[], source: ProvisioningSource): Changed {
  return { version: linkVersionAfter(before, events, source), changed: events.length > 0 };
}
