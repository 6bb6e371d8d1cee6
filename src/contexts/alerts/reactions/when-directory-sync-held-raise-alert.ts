import { v5 } from 'uuid';
import { raiseAlert } from '../../../../commands/alerts/raise-alert.ts';
import { directorySourceEvents } from '../../directory-sources/domain/events.ts';
import { defineReaction, effect } from '../../../platform/kernel/reaction.ts';
import { at } from '../../../platform/kernel/read-model.ts';

/** UUIDv5 namespace (RFC 9562 §5.5). The id derives from the event: an effect that runs twice raises one alert. */
const ALERTS = '0d5b6a0c-8d0e-4a53-9a0f-3c0a5c2b7e19';

/** An admin has to look at a plan that would deactivate many people. */
export const whenDirectorySyncHeldRaiseAlert = defineReaction({
  name: 'directory-sync-alerts',
  lane: 'main',
  families: [directorySourceEvents],
  on: {
    DirectorySyncHeld: (event) => {
      const { sourceId, syncId, deactivations, linkedPeople } = event.data;
      const raise = effect(raiseAlert, {
        alertId: v5(`${event.tenantId}|${event.id}`, ALERTS),
        alertType: 'policy_violation',
        severity: 'high',
        title: 'A directory synchronization waits for a confirmation',
        description: `It would deactivate ${deactivations} of ${linkedPeople} people of the directory. Nobody has been changed. Look at its plan. If the people did leave, a super admin confirms it; otherwise correct the directory or the source, and synchronize again.`,
        fingerprint: `policy_violation|||directory_sync|${sourceId}|${syncId}`,
        userId: null,
        deviceId: null,
        domain: null,
        url: null,
        cause: event.id,
        metadata: {
          kind: 'directory_sync_held',
          sourceId,
          syncId,
          deactivations,
          linkedPeople,
          observedAt: at(event),
          observationIds: [],
        },
      });
      return [{ effects: [raise] }];
    },
  },
});
