import { alert, alertStream } from '../../src/contexts/alerts/domain/alert.ts';
import { triageMove } from '../../src/contexts/alerts/domain/triage-state.ts';
import type { Severity } from '../../src/contexts/alerts/domain/vocabulary.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface ChangeAlertSeverity {
  readonly alertId: string;
  readonly severity: Severity;
  readonly reason: string | null;
}

/** Allowed in any status; the status does not change. Setting the same severity again has no effect (OP-076). */
export const changeAlertSeverity = defineCommand({
  name: 'ChangeAlertSeverity',
  aggregate: alert,
  stream: ({ alertId }: ChangeAlertSeverity, { tenantId }) => alertStream(tenantId, alertId),
  decide(state, { alertId, severity, reason }) {
    if (state.status === 'none') return notFound();
    if (state.severity === severity) return accept([]);
    return accept([
      {
        type: 'AlertSeverityChanged',
        data: { alertId, userId: state.userId, severity, reason, ...triageMove(state.standing, { severity }) },
      },
    ]);
  },
  freshens: ['alerts', 'alert_minutes'],
});
