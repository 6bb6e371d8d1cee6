import type { Aggregate } from '../../../platform/kernel/aggregate.ts';
import type { EventOf } from '../../../platform/kernel/event.ts';
import type { canaryCookieTriggers } from './canary-cookie-triggers.ts';
import { canaryCookies } from './canary-cookie.resource.ts';

export interface CanaryTriggerState {
  readonly exists: boolean;
  /** The latest causes, so that one observation counts once however often it is reported. */
  readonly causes: readonly string[];
}

/** An effect is repeated only around a crash, within the batch under way then: far fewer than this. */
const CAUSES_KEPT = 1_000;

/** What deciding about a trigger needs of a cookie's stream, which holds the cookie's own events too. */
export const canaryTrigger: Aggregate<
  CanaryTriggerState,
  EventOf<typeof canaryCookieTriggers> | EventOf<typeof canaryCookies.events>
> = {
  category: canaryCookies.aggregate.category,
  initial: { exists: false, causes: [] },
  fold(state, event) {
    switch (event.type) {
      case 'CanaryCookieCreated':
        return { ...state, exists: true };
      case 'CanaryCookieDeleted':
        return { ...state, exists: false };
      case 'CanaryCookieTriggered':
        return { ...state, causes: [...state.causes.slice(1 - CAUSES_KEPT), event.data.cause] };
      case 'CanaryCookieUpdated':
        return state;
    }
  },
};
