import { endPages } from '../../../../commands/on-call/end-pages.ts';
import type { RecordedEvent } from '../../../platform/kernel/event.ts';
import { at } from '../../../platform/kernel/read-model.ts';
import { defineReaction, effect } from '../../../platform/kernel/reaction.ts';
import { alertEvents } from '../../alerts/domain/events.ts';
import type { ResponseKind } from '../domain/page-events.ts';

const ended = (event: RecordedEvent<{ type: string; data: { alertId: string } }>, ending: ResponseKind) => {
  const { actor } = event.metadata;
  const adminId = actor.kind === 'admin' ? actor.id : null;
  return [{ effects: [effect(endPages, { alertId: event.data.alertId, ending, adminId, endedAt: at(event) })] }];
};

/** An admin who acknowledges, resolves, claims or assigns an alert answers its pages. */
export const whenAlertIsTriagedEndPages = defineReaction({
  name: 'answered-pages',
  lane: 'main',
  families: [alertEvents],
  on: {
    AlertAcknowledged: (event) => ended(event, 'acknowledged'),
    AlertResolved: (event) => ended(event, 'resolved'),
    AlertClaimed: (event) => ended(event, 'claimed'),
    AlertAssigned: (event) => (event.data.assigneeId === null ? [] : ended(event, 'assigned')),
  },
});
