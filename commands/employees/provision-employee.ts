import {
  employee,
  employeeClaims,
  employeeStream,
  type EmployeeState,
} from '../../src/contexts/employees/domain/employee.ts';
import type { EmployeeEvent } from '../../src/contexts/employees/domain/events.ts';
import { changesBy, linkWith } from '../../src/contexts/employees/domain/provisioned-changes.ts';
import {
  folded,
  linkClaims,
  ownedBySource,
  asStatement,
  type EmployeeLink,
  type ProvisionedPerson,
  type ProvisioningSource,
} from '../../src/contexts/employees/domain/provisioning.ts';
import {
  acceptWith,
  defineBulkCommand,
  defineCommand,
  type CommandContext,
  type Decision,
} from '../../src/platform/kernel/command.ts';
import { alreadyExists, conflict, isFailure, type Failure } from '../../src/platform/kernel/failure.ts';
import {
  admitEmployee,
  admitNewcomer,
  admitNewcomers,
  retryAdmission,
  type EmployeeAdmission,
  type EmployeeAdmissionPorts,
} from './employee-admission.ts';

export interface ProvisionEmployee {
  /** The employee to link, or a new id: `findProvisioned` says which. */
  readonly userId: string;
  readonly source: ProvisioningSource;
  readonly person: ProvisionedPerson;
  /** What to do with a person whom this source has linked already. */
  readonly ifLinked: 'refuse' | 'update';
  /** The source did not say whether the person is active: one who exists keeps their status (OP-396). */
  readonly keepsStatus?: boolean;
  /** The source stated no name: one who exists keeps theirs (OP-396). */
  readonly keepsName?: boolean;
}

export interface Provisioned {
  readonly userId: string;
  readonly outcome: 'created' | 'linked' | 'changed' | 'unchanged';
  /** Rises with every change that the source can see, the same on every node. */
  readonly version: number;
}

type Facts = Pick<EmployeeAdmission, 'emailDigest'> & Partial<EmployeeAdmission>;

/**
 * Links an employee to a source, or creates one who occupies a license seat. A person has at most one source of each
 * kind; who decides about which field is in decision 0100.
 */
export const provisionEmployee = defineCommand({
  name: 'ProvisionEmployee',
  aggregate: employee,
  stream: ({ userId }: ProvisionEmployee, { tenantId }) => employeeStream(tenantId, userId),
  async prepare(
    { userId, person }: ProvisionEmployee,
    ports: EmployeeAdmissionPorts,
    { tenantId },
  ): Promise<Facts | Failure> {
    const { status } = await ports.aggregates.load(employee, employeeStream(tenantId, userId));
    if (status === 'none') return admitEmployee(tenantId, person.email, ports);
    return { emailDigest: ports.accountDigest(person.email) };
  },
  decide(state, input, _context, facts: Facts) {
    const { userId, source, ifLinked } = input;
    if (state.status === 'none') return create(state, input, facts);
    if (state.status !== 'present') return conflict();
    const person = {
      ...input.person,
      ...(input.keepsStatus ? { isActive: staysActive(state) } : {}),
      ...(input.keepsName ? { displayName: state.record.displayName } : {}),
    };
    const link = linkWith(state, source);
    if (link && ifLinked === 'refuse') return alreadyExists(sharedWith(link, person));
    const other = state.links.find((each) => each.source.kind === source.kind);
    if (!link && other) return ownedBySource([{ field: 'email', source: other.source }]);
    const { events, version, ...claims } = changesBy(
      state,
      userId,
      source,
      asStatement(source, person),
      facts.emailDigest,
    );
    return acceptWith({ userId, outcome: outcomeOf(events), version }, events, claims);
  },
  recall: (before, events, { userId, source }): Provisioned => ({
    userId,
    outcome: outcomeOf(events),
    version: linkVersionAfter(before, events, source),
  }),
  whenClaimed: retryAdmission,
  freshens: ['employees', 'provisioned_people', 'live-state'],
});

/**
 * As `provisionEmployee`, for the id of an employee who does not exist yet, and an e-mail that nobody had a moment ago:
 * their stream is read only if the admission or the append is refused. An earlier run may have created them.
 */
export const provisionNewcomer = defineBulkCommand({
  ...provisionEmployee,
  name: 'ProvisionNewcomer',
  begins: true,
  prepareAll: (
    inputs: readonly ProvisionEmployee[],
    ports: EmployeeAdmissionPorts,
    { tenantId },
  ): Promise<readonly (Facts | Failure)[]> =>
    admitNewcomers(
      tenantId,
      inputs.map(({ person }) => person.email),
      ports,
    ),
  async prepare(
    input: ProvisionEmployee,
    ports: EmployeeAdmissionPorts,
    context: CommandContext,
  ): Promise<Facts | Failure> {
    const admitted = await admitNewcomer(context.tenantId, input.person.email, ports);
    if (!isFailure(admitted)) return admitted;
    const { status } = await ports.aggregates.load(employee, employeeStream(context.tenantId, input.userId));
    return status === 'none' ? admitted : { emailDigest: ports.accountDigest(input.person.email) };
  },
});

/** By what the source has the person already. */
function sharedWith(link: EmployeeLink, { userName, externalId }: ProvisionedPerson): string {
  if (folded(link.userName) === folded(userName)) return 'userName';
  return externalId !== null && link.externalId === externalId ? 'externalId' : 'email';
}

/** Of somebody whom another source made inactive, that source has the word. */
const staysActive = ({ isActive, links }: EmployeeState): boolean => isActive || links.some((link) => !link.isActive);

function create(
  state: EmployeeState,
  { userId, source, person }: ProvisionEmployee,
  { emailDigest, seat }: Facts,
): Decision<EmployeeEvent, Provisioned> | Failure {
  if (seat === undefined) return conflict();
  const { email, displayName, department, jobTitle, externalId, isActive } = person;
  const described = { email, displayName, department, jobTitle, externalId, isActive };
  const statement = asStatement(source, person);
  const version = state.linkVersion + 1;
  return acceptWith(
    { userId, outcome: 'created', version },
    [
      {
        type: 'EmployeeCreated',
        data: { userId, emailDigest, source: source.kind, isPlaceholder: false, seat, ...described },
      },
      { type: 'EmployeeLinked', data: { userId, source, version, ...statement } },
    ],
    { claim: [...employeeClaims({ emailDigest, seat }), ...linkClaims(source, statement)] },
  );
}

function outcomeOf(events: readonly EmployeeEvent[]): Provisioned['outcome'] {
  const has = (type: EmployeeEvent['type']) => events.some((event) => event.type === type);
  if (has('EmployeeCreated')) return 'created';
  if (has('EmployeeLinked')) return 'linked';
  return events.length > 0 ? 'changed' : 'unchanged';
}

/** The version of the source's link after these events. */
export function linkVersionAfter(
  before: EmployeeState,
  events: readonly EmployeeEvent[],
  source: ProvisioningSource,
): number {
  const after = events.reduce((state, event) => employee.fold(state, event), before);
  return linkWith(after, source)?.version ?? before.linkVersion;
}
