import type { Aggregate } from '../kernel/aggregate.ts';
import type { DomainEvent } from '../kernel/event.ts';
import type { AnyValues } from './fields.ts';
import { withoutMark } from './silenced.ts';

/** The state for decisions about a declared record: the whole record. */
export interface RecordState<V> {
  readonly exists: boolean;
  readonly values: V;
}

/** Events in `writes` carry values; `ends` deletes the record. Events of other families on the stream are ignored. */
export const recordAggregate = (
  category: string,
  initial: RecordState<AnyValues>,
  { writes, ends }: { readonly writes: readonly string[]; readonly ends?: string },
): Aggregate<RecordState<AnyValues>, DomainEvent> => ({
  category,
  initial,
  fold(state, { type, data }) {
    // A deleted record refers to no secret.
    if (type === ends) return initial;
    if (!writes.includes(type)) return state;
    const { id: _, ...values } = withoutMark(data as AnyValues);
    return { exists: true, values: { ...state.values, ...values } };
  },
});
