import { alert, alertStream } from '../../src/domain/alerts/alert.ts';
import { moved } from '../../src/domain/alerts/standing.ts';
import type { Severity } from '../../src/domain/alerts/vocabulary.ts';
import { accept, defineCommand } from '../../src/kernel/command.ts';
import { notFound } from '../../src/kernel/failure.ts';

interface ChangeAlertSeverity {
  readonly alertId: string;
  readonly severity: Severity;
  readonly reason: string | null;
}

/** In any status, and the status stays; the same severity again changes nothing (OP-076). */
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
        data: { alertId, userId: state.userId, severity, reason, ...moved(state.standing, { severity }) },
      },
    ]);
  },
  freshens: ['alerts', 'alert_hours'],
});
