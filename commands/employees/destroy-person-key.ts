import { employee, employeeStream } from '../../src/domain/employees/employee.ts';
import { accept, defineCommand } from '../../src/kernel/command.ts';
import { conflict } from '../../src/kernel/failure.ts';
import type { CommandPorts } from '../../src/services.ts';

interface DestroyPersonKey {
  readonly userId: string;
}

/**
 * Carries out an erasure that was decided, and nothing but that: everything sealed under the person's key, in the log and
 * in every backup of it, can never be read again. Any number of times is once.
 */
export const destroyPersonKey = defineCommand({
  name: 'DestroyPersonKey',
  aggregate: employee,
  stream: ({ userId }: DestroyPersonKey, { tenantId }) => employeeStream(tenantId, userId),
  async prepare({ userId }: DestroyPersonKey, { aggregates, personKeys }: Pick<CommandPorts, 'aggregates' | 'personKeys'>, { tenantId }) {
    const { status } = await aggregates.load(employee, employeeStream(tenantId, userId));
    if (status !== 'erased') return conflict('no erasure was decided');
    await personKeys.destroy(tenantId, userId);
    return undefined;
  },
  decide: () => accept([]),
});
