import { v5 } from 'uuid';
import { raiseAlert } from '../../../../commands/alerts/raise-alert.ts';
import { extensionRolloutEvents } from '../../extension-rollouts/domain/events.ts';
import { defineReaction, effect } from '../../../platform/kernel/reaction.ts';

/** UUIDv5 namespace (RFC 9562 §5.5). The id derives from the event: an effect that runs twice raises one alert. */
const ALERTS = '5f0c2c1e-6f0f-4d1b-9a7e-5b1d7f2a9c33';

/** A version that breaks the extension leaves browsers unprotected: an admin has to look at it. */
export const whenExtensionRolloutHaltedRaiseAlert = defineReaction({
  name: 'extension-rollout-alerts',
  lane: 'main',
  families: [extensionRolloutEvents],
  on: {
    ExtensionRolloutHalted: (event) => {
      const { rolloutId, version, stage, round, figures, returnsTo, decidedAt } = event.data;
      const { candidate, baseline } = figures;
      const raise = effect(raiseAlert, {
        alertId: v5(`${event.tenantId}|${event.id}`, ALERTS),
        alertType: 'policy_violation',
        severity: 'high',
        title: `The rollout of version ${version} of the extension has halted`,
        description: `${candidate.affectedDevices} of ${candidate.devices} devices with this version reported errors, more than other versions do. No further device gets it. Look at the rollout: resume it, or roll it back.`,
        fingerprint: `policy_violation|||extension_rollout|${rolloutId}|${round}`,
        userId: null,
        deviceId: null,
        domain: null,
        url: null,
        cause: event.id,
        metadata: {
          kind: 'extension_rollout_halted',
          rolloutId,
          version,
          stage,
          candidateErrors: candidate.errors,
          candidateDeviceHours: candidate.deviceHours,
          baselineErrors: baseline.errors,
          baselineDeviceHours: baseline.deviceHours,
          returnsTo,
          observedAt: decidedAt,
          observationIds: [],
        },
      });
      return [{ effects: [raise] }];
    },
  },
});
