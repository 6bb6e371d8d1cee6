import { alert, alertStream, isClosed } from '../../src/contexts/alerts/domain/alert.ts';
import { triageMove } from '../../src/contexts/alerts/domain/triage-state.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';

interface AcknowledgeAlert {
  readonly alertId: string;
  readonly notes: string | null;
}

/**
 * Acknowledges an open alert. An acknowledged alert keeps its status and takes the new notes; a closed alert must be
 * reopened first (OP-072).
 */
export const acknowledgeAlert = defineCommand({
  name: 'AcknowledgeAlert',
  aggregate: alert,
  stream: ({ alertId }: AcknowledgeAlert, { tenantId }) => alertStream(tenantId, alertId),
  decide(state, { alertId, notes }, { now }) {
    if (state.status === 'none') return notFound();
    if (isClosed(state)) return conflict('alert_resolved');
    const acknowledgedAt = state.standing?.acknowledgedAt ?? new Date(now).toISOString();
    return accept([
      {
        type: 'AlertAcknowledged',
        data: {
          alertId,
          userId: state.userId,
          notes,
          ...triageMove(state.standing, { status: 'acknowledged', acknowledgedAt }),
        },
      },
    ]);
  },
  freshens: ['alerts', 'alert_minutes'],
});
