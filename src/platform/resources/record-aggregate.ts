import type { Aggregate } from '../kernel/aggregate.ts';
import type { DomainEvent } from '../kernel/event.ts';
import type { AnyValues } from './fields.ts';

/** What decisions about a declared record need: all of it. */
export interface RecordState<V> {
  readonly exists: boolean;
  readonly values: V;
}

/** Events that write carry values, one may end it; events of other families on the stream are none of its business. */
export const recordAggregate = (
  category: string,
  initial: RecordState<AnyValues>,
  { writes, ends }: { readonly writes: readonly string[]; readonly ends?: string },
): Aggregate<RecordState<AnyValues>, DomainEvent> => ({
  category,
  initial,
  fold(state, { type, data }) {
    // A record that is gone refers to no secret.
    if (type === ends) return initial;
    if (!writes.includes(type)) return state;
    const { id: _, ...values } = data as AnyValues;
    return { exists: true, values: { ...state.values, ...values } };
  },
});
