import { canaryCookies } from '../../src/contexts/countermeasures/domain/canary-cookie.resource.ts';
import { canaryTrigger } from '../../src/contexts/countermeasures/domain/canary-trigger.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface RecordCanaryCookieTrigger {
  readonly cookieId: string;
  /** The triggers of one report, without duplicates. */
  readonly triggers: readonly {
    /** The id of the observation. */
    readonly cause: string;
    readonly occurredAt: string;
  }[];
}

/**
 * Issued by a reaction when observations name a cookie of the tenant. Each observation counts once; all of one report
 * are one append.
 */
export const recordCanaryCookieTrigger = defineCommand({
  name: 'RecordCanaryCookieTrigger',
  aggregate: canaryTrigger,
  stream: ({ cookieId }: RecordCanaryCookieTrigger, { tenantId }) => canaryCookies.stream(tenantId, cookieId),
  decide(state, { cookieId, triggers }) {
    if (!state.exists) return notFound();
    const known = new Set(state.causes);
    const fresh = triggers.filter(({ cause }) => !known.has(cause));
    return accept(fresh.map((trigger) => ({ type: 'CanaryCookieTriggered', data: { id: cookieId, ...trigger } })));
  },
});
