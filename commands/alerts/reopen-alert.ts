import { alert, alertStream } from '../../src/contexts/alerts/domain/alert.ts';
import { triageMove } from '../../src/contexts/alerts/domain/triage-state.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';

interface ReopenAlert {
  readonly alertId: string;
  readonly notes: string | null;
}

/** Reopens an alert from any status except open (OP-073). */
export const reopenAlert = defineCommand({
  name: 'ReopenAlert',
  aggregate: alert,
  stream: ({ alertId }: ReopenAlert, { tenantId }) => alertStream(tenantId, alertId),
  decide(state, { alertId, notes }) {
    if (state.status === 'none') return notFound();
    if (state.status === 'open') return conflict('alert_open');
    const move = triageMove(state.standing, { status: 'open', acknowledgedAt: null, resolvedAt: null });
    return accept([
      {
        type: 'AlertReopened',
        data: { alertId, userId: state.userId, notes, fingerprint: state.fingerprint, ...move },
      },
    ]);
  },
  freshens: ['alerts', 'alert_minutes'],
});
