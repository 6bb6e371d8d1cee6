import { recordCanaryCookieTrigger } from '../../../commands/countermeasures/record-canary-cookie-trigger.ts';
import { telemetryEvents } from '../../domain/telemetry/events.ts';
import { defineReaction } from '../../kernel/reaction.ts';

/** A cookie counts how often it was seen; a cookie that the tenant does not have counts nothing. */
export const whenCanaryCookieSeenCountTrigger = defineReaction({
  name: 'canary-cookie-triggers',
  lane: 'telemetry',
  families: [telemetryEvents],
  on: {
    TelemetryRecorded: ({ data: { observations } }) =>
      observations
        .filter((observation) => observation.kind === 'canary_cookie_triggered')
        .filter(({ cookieId }) => cookieId !== null)
        .map(({ cookieId, eventId, occurredAt }) => ({ effects: [{ command: recordCanaryCookieTrigger, input: { cookieId, cause: eventId, occurredAt } }] })),
  },
});
