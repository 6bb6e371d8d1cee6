import { alert, alertStream } from '../../src/contexts/alerts/domain/alert.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface RecordAlertForwarded {
  readonly alertId: string;
  readonly portalAlertId: string;
  /** One delivery is recorded once, however often its receipt comes. */
  readonly deliveryId: string;
}

/** The portal has taken the alert; it may be sent again at any time (choice OP-085). */
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
