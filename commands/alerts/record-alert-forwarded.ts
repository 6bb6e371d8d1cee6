import { alert, alertStream } from '../../src/contexts/alerts/domain/alert.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface RecordAlertForwarded {
  readonly alertId: string;
  readonly portalAlertId: string;
  /** A delivery is recorded once, even if its receipt arrives again. */
  readonly deliveryId: string;
}

/** Records that the portal accepted the alert. It may be sent again at any time (choice OP-085). */
export const recordAlertForwarded = defineCommand({
  name: 'RecordAlertForwarded',
  aggregate: alert,
  stream: ({ alertId }: RecordAlertForwarded, { tenantId }) => alertStream(tenantId, alertId),
  decide(state, { alertId, portalAlertId, deliveryId }) {
    if (state.status === 'none') return notFound();
    if (state.lastDeliveryId === deliveryId) return accept([]);
    return accept([{ type: 'AlertForwarded', data: { alertId, portalAlertId, deliveryId } }]);
  },
  freshens: ['alerts'],
});
