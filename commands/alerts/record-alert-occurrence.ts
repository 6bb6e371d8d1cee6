import { alert, alertStream } from '../../src/domain/alerts/alert.ts';
import { accept, defineCommand } from '../../src/kernel/command.ts';
import { notFound } from '../../src/kernel/failure.ts';

interface RecordAlertOccurrence {
  readonly alertId: string;
  readonly cause: string;
  readonly occurredAt: string;
}

/** The same thing seen again while its alert was unresolved (OP-089). A cause that was counted is not counted twice. */
export const recordAlertOccurrence = defineCommand({
  name: 'RecordAlertOccurrence',
  aggregate: alert,
  stream: ({ alertId }: RecordAlertOccurrence, { tenantId }) => alertStream(tenantId, alertId),
  decide(state, input) {
    if (state.status === 'none') return notFound();
    if (state.causes.includes(input.cause)) return accept([]);
    return accept([{ type: 'AlertRepeated', data: input }]);
  },
});
