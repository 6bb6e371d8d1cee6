import type { DomainEvent, EventFamily, EventOf } from './event.ts';
import type { TenantId } from './ids.ts';

/**
 * The state that decisions about one stream need, and the pure fold of its events. Some categories hold events of more
 * than one family (a tenant's stream holds its admins too).
 */
export interface Aggregate<State, E extends DomainEvent> {
  readonly category: string;
  readonly initial: State;
  fold(state: State, event: E): State;
}

export const defineAggregate = <State, Family extends EventFamily>(
  family: Family,
  initial: State,
  fold: (state: State, event: EventOf<Family>) => State,
): Aggregate<State, EventOf<Family>> => ({ category: family.category, initial, fold });

/**
 * `alert-<tenant>.<id>`. The tenant is part of the name. With the id of another tenant's alert, the name is that of an
 * empty stream, so a foreign id is "not found" by construction.
 */
export const streamName = (category: string, tenantId: TenantId, id: string): string => `${category}-${tenantId}.${id}`;

/** The id at the end of a stream name: the resource id in the audit log. */
export const streamSubject = (stream: string): string => stream.slice(stream.indexOf('.') + 1);
export const streamTenant = (stream: string): string => stream.slice(stream.indexOf('-') + 1, stream.indexOf('.'));
export const streamCategory = (stream: string): string => stream.slice(0, stream.indexOf('-'));

/** Folds another stream for `prepare`, when a decision needs a fact from the write side. */
export interface AggregateReader {
  load<State, E extends DomainEvent>(aggregate: Aggregate<State, E>, stream: string): Promise<State>;
}

export interface BulkAggregateReader extends AggregateReader {
  /** The same for many streams, in few round trips. Streams are named once; results are in input order. */
  loadAll<State, E extends DomainEvent>(
    aggregate: Aggregate<State, E>,
    streams: readonly string[],
  ): Promise<readonly State[]>;
}
