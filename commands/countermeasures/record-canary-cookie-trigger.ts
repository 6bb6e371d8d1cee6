import { canaryCookies } from '../../src/domain/countermeasures/canary-cookie.resource.ts';
import { canaryTrigger } from '../../src/domain/countermeasures/canary-trigger.ts';
import { accept, defineCommand } from '../../src/kernel/command.ts';
import { notFound } from '../../src/kernel/failure.ts';

interface RecordCanaryCookieTrigger {
  readonly cookieId: string;
  /** The id of the observation. */
  readonly cause: string;
  readonly occurredAt: string;
}

/** Issued by the house when an observation names a cookie of the tenant; one observation counts once. */
export const recordCanaryCookieTrigger = defineCommand({
  name: 'RecordCanaryCookieTrigger',
  aggregate: canaryTrigger,
  stream: ({ cookieId }: RecordCanaryCookieTrigger, { tenantId }) => canaryCookies.stream(tenantId, cookieId),
  decide(state, { cookieId, cause, occurredAt }) {
    if (!state.exists) return notFound();
    if (state.causes.includes(cause)) return accept([]);
    return accept([{ type: 'CanaryCookieTriggered', data: { id: cookieId, cause, occurredAt } }]);
  },
});
