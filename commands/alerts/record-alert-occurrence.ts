import { alert, alertStream } from '../../src/contexts/alerts/domain/alert.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface RecordAlertOccurrence {
  readonly alertId: string;
  /** The report that says so, with however many occurrences of this alert it tells of. */
  readonly cause: string;
  readonly occurrences: number;
  readonly occurredAt: string;
}

/** The same thing seen again while its alert was unresolved (OP-089). A report that was counted is not counted twice. */
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
