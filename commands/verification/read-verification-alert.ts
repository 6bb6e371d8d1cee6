import { verification, verificationStream } from '../../src/contexts/verification/domain/verification.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface ReadVerificationAlert {
  readonly alertId: string;
  /** The employee whom the alert is about: the alert is on that employee's stream. */
  readonly userId: string;
}

/** Marks an alert as read. Marking it again keeps the first time. */
export const readVerificationAlert = defineCommand({
  name: 'ReadVerificationAlert',
  aggregate: verification,
  stream: ({ userId }: ReadVerificationAlert, { tenantId }) => verificationStream(tenantId, userId),
  decide(state, { alertId, userId }, { now }) {
    const isRead = state.alerts.get(alertId);
    if (isRead === undefined) return notFound();
    return accept(
      isRead ? [] : [{ type: 'VerificationAlertRead', data: { alertId, userId, at: new Date(now).toISOString() } }],
    );
  },
  freshens: ['verification_alerts'],
});
