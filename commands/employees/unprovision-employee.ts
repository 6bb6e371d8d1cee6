import { employee, employeeStream } from '../../src/contexts/employees/domain/employee.ts';
import { changesByEnd, linkWith } from '../../src/contexts/employees/domain/provisioned-changes.ts';
import type { ProvisioningSource } from '../../src/contexts/employees/domain/provisioning.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound, stale } from '../../src/platform/kernel/failure.ts';

interface UnprovisionEmployee {
  readonly userId: string;
  readonly source: ProvisioningSource;
  /** `deactivate`: the person left. `unlink`: only the source goes; the person stays as they are. */
  readonly how: 'deactivate' | 'unlink';
  readonly ifVersion?: number | undefined;
}

/** Ends the link between a person and a source. The employee and their history stay. */
export const unprovisionEmployee = defineCommand({
  name: 'UnprovisionEmployee',
  aggregate: employee,
  stream: ({ userId }: UnprovisionEmployee, { tenantId }) => employeeStream(tenantId, userId),
  decide(state, { userId, source, how, ifVersion }) {
    const link = linkWith(state, source);
    if (state.status !== 'present' || !link) return notFound();
    if (ifVersion !== undefined && ifVersion !== link.version) return stale();
    const { events, release } = changesByEnd(state, userId, link, how === 'deactivate' ? 'left' : 'ended');
    return accept(events, { release: release ?? [] });
  },
  freshens: ['employees', 'provisioned_people', 'live-state'],
});
