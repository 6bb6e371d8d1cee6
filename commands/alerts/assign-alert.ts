import { alert, alertStream } from '../../src/contexts/alerts/domain/alert.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import type { AggregateReader } from '../../src/platform/kernel/aggregate.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { invalid, notFound } from '../../src/platform/kernel/failure.ts';

interface AssignAlert {
  readonly alertId: string;
  /** Null removes the assignment. */
  readonly assigneeId: string | null;
}

/**
 * Allowed in any status; the status does not change. The assignee must be an active admin with write access to alerts
 * (OP-074).
 */
export const assignAlert = defineCommand({
  name: 'AssignAlert',
  aggregate: alert,
  stream: ({ alertId }: AssignAlert, { tenantId }) => alertStream(tenantId, alertId),
  prepare: async ({ assigneeId }: AssignAlert, { aggregates }: { aggregates: AggregateReader }, { tenantId }) => {
    if (assigneeId === null) return { allowed: true };
    const assignee = (await aggregates.load(tenant, tenantStream(tenantId))).admins.get(assigneeId);
    return { allowed: assignee?.status === 'active' && assignee.role !== 'viewer' };
  },
  decide(state, { alertId, assigneeId }, _context, { allowed }: { allowed: boolean }) {
    if (state.status === 'none') return notFound();
    if (!allowed) return invalid('assigneeId', 'must be an active admin who may work on alerts');
    if (state.assigneeId === assigneeId) return accept([]);
    return accept([{ type: 'AlertAssigned', data: { alertId, assigneeId } }]);
  },
  freshens: ['alerts'],
});
