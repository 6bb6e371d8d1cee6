import { employee, employeeStream } from '../../src/contexts/employees/domain/employee.ts';
import { changesBy, linkWith } from '../../src/contexts/employees/domain/provisioned-changes.ts';
import {
  asStatement,
  type ProvisionedPerson,
  type ProvisioningSource,
} from '../../src/contexts/employees/domain/provisioning.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound, stale } from '../../src/platform/kernel/failure.ts';
import type { WithAccountDigest } from '../ports.ts';
import { linkVersionAfter } from './provision-employee.ts';

interface ChangeProvisionedEmployee {
  readonly userId: string;
  readonly source: ProvisioningSource;
  /** The complete new statement of the source. */
  readonly person: ProvisionedPerson;
  /** The change is refused unless the link has this version. */
  readonly ifVersion?: number | undefined;
}

/** A source changes a person whom it has linked. Fields that a source with precedence owns keep its values. */
export const changeProvisionedEmployee = defineCommand({
  name: 'ChangeProvisionedEmployee',
  aggregate: employee,
  stream: ({ userId }: ChangeProvisionedEmployee, { tenantId }) => employeeStream(tenantId, userId),
  prepare: async ({ person }: ChangeProvisionedEmployee, { accountDigest }: WithAccountDigest) => ({
    emailDigest: accountDigest(person.email),
  }),
  decide(state, { userId, source, person, ifVersion }, _context, { emailDigest }: { emailDigest: string }) {
    const link = linkWith(state, source);
    if (state.status !== 'present' || !link) return notFound();
    if (ifVersion !== undefined && ifVersion !== link.version) return stale();
    const { events, version, ...claims } = changesBy(state, userId, source, asStatement(source, person), emailDigest);
    return acceptWith({ version, changed: events.length > 0 }, events, claims);
  },
  recall: (before, events, { source }) => ({
    version: linkVersionAfter(before, events, source),
    changed: events.length > 0,
  }),
  freshens: ['employees', 'provisioned_people', 'live-state'],
});
