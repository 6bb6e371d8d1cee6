import { EventStoreUnavailable, type AppendResult, type EventStore } from './port.ts';

/** `unknown`: the store did not respond in time. */
export type AppendOutcome = AppendResult['kind'] | 'unknown';

/** Reports the outcome of each append. */
export function countAppends(store: EventStore, count: (outcome: AppendOutcome) => void): EventStore {
  return {
    ...store,
    append: async (append) => {
      try {
        const result = await store.append(append);
        count(result.kind);
        return result;
      } catch (error) {
        if (error instanceof EventStoreUnavailable) count('unknown');
        throw error;
      }
    },
  };
}
