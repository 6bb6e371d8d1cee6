import { alert, alertStream } from '../../src/contexts/alerts/domain/alert.ts';
import { triageMove } from '../../src/contexts/alerts/domain/triage-state.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface ResolveAlert {
  readonly alertId: string;
  readonly status: 'resolved' | 'false_positive';
  readonly resolution: string | null;
}

/** Allowed from any status (interface, "Alert status"). Resolving again is recorded as a second decision. */
export const resolveAlert = defineCommand({
  name: 'ResolveAlert',
  aggregate: alert,
  stream: ({ alertId }: ResolveAlert, { tenantId }) => alertStream(tenantId, alertId),
  decide(state, { alertId, status, resolution }, { now }) {
    if (state.status === 'none') return notFound();
    const { fingerprint, userId } = state;
    const move = triageMove(state.standing, { status, resolvedAt: new Date(now).toISOString() });
    return accept([{ type: 'AlertResolved', data: { alertId, userId, status, resolution, fingerprint, ...move } }]);
  },
  freshens: ['alerts', 'alert_minutes'],
});
