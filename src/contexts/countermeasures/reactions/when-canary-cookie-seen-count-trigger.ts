import { recordCanaryCookieTrigger } from '../../../../commands/countermeasures/record-canary-cookie-trigger.ts';
import { telemetryEvents } from '../../telemetry/domain/events.ts';
import { defineReaction, effect } from '../../../platform/kernel/reaction.ts';

/** Counts how often a canary cookie was seen. Cookies that the tenant does not have are ignored. */
export const whenCanaryCookieSeenCountTrigger = defineReaction({
  name: 'canary-cookie-triggers',
  lane: 'telemetry',
  families: [telemetryEvents],
  on: {
    TelemetryRecorded: ({ data: { observations } }) => {
      const triggers = new Map<string, { cause: string; occurredAt: string }[]>();
      for (const observation of observations) {
        if (observation.kind !== 'canary_cookie_triggered' || observation.cookieId === null) continue;
        const { cookieId, eventId: cause, occurredAt } = observation;
        triggers.set(cookieId, [...(triggers.get(cookieId) ?? []), { cause, occurredAt }]);
      }
      return [...triggers].map(([cookieId, ofCookie]) => ({
        effects: [effect(recordCanaryCookieTrigger, { cookieId, triggers: ofCookie })],
      }));
    },
  },
});
