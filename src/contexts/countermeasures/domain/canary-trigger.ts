import type { Aggregate } from '../../../platform/kernel/aggregate.ts';
import type { EventOf } from '../../../platform/kernel/event.ts';
import type { canaryCookieTriggers } from './canary-cookie-triggers.ts';
import { canaryCookies } from './canary-cookie.resource.ts';

export interface CanaryTriggerState {
  readonly exists: boolean;
  /** The latest causes: an observation counts once, however often it is reported. */
  readonly causes: readonly string[];
}

/** Effects are repeated only after a crash, within the batch in progress. Such a batch has far fewer causes. */
const CAUSES_KEPT = 1_000;

/** State for trigger decisions. The stream also holds the cookie's own events. */
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
