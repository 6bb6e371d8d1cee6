import { alert, alertStream } from '../../src/contexts/alerts/domain/alert.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';

interface ClaimAlert {
  readonly alertId: string;
  readonly adminId: string;
}

/** Assigns an unassigned alert to the caller. Of two concurrent claims the second gets a conflict (OP-075). */
export const claimAlert = defineCommand({
  name: 'ClaimAlert',
  aggregate: alert,
  stream: ({ alertId }: ClaimAlert, { tenantId }) => alertStream(tenantId, alertId),
  decide(state, { alertId, adminId }) {
    if (state.status === 'none') return notFound();
    if (state.assigneeId === adminId) return accept([]);
    if (state.assigneeId !== null) return conflict('alert_assigned');
    return accept([{ type: 'AlertClaimed', data: { alertId, assigneeId: adminId } }]);
  },
  freshens: ['alerts'],
});
