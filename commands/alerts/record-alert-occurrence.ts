import { alert, alertStream } from '../../src/contexts/alerts/domain/alert.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface RecordAlertOccurrence {
  readonly alertId: string;
  /** The report that contains the occurrences. */
  readonly cause: string;
  readonly occurrences: number;
  readonly occurredAt: string;
}

/** Records that an unresolved alert occurred again (OP-089). A report is counted only once. */
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
