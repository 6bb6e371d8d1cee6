import type { Aggregate, AggregateReader } from '../kernel/aggregate.ts';
import type { DomainEvent } from '../kernel/event.ts';
import { invalid, refuseTogether, type Failure } from '../kernel/failure.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { AnyValues } from './fields.ts';

/** What an id in a field names: a record of the same tenant, which must exist when the id is given (OP-433). */
export interface Reference {
  exists(aggregates: AggregateReader, tenantId: TenantId, id: string): Promise<boolean>;
  /** "a group", for the refusal. */
  readonly what: string;
}

/** By field. A field holds one id, null, or a list of ids. */
export type References = Readonly<Record<string, Reference>>;

export const refersTo = <State, E extends DomainEvent>(
  what: string,
  aggregate: Aggregate<State, E>,
  stream: (tenantId: TenantId, id: string) => string,
  exists: (state: State) => boolean,
): Reference => ({
  what,
  exists: async (aggregates, tenantId, id) => exists(await aggregates.load(aggregate, stream(tenantId, id))),
});

/**
 * A failure that names the ids without a record in this tenant. Ids that the record named before are not checked:
 * what they name may have been deleted since, and a caller may send them back.
 */
export async function unknownReference(
  references: References,
  given: AnyValues,
  { aggregates, tenantId }: { readonly aggregates: AggregateReader; readonly tenantId: TenantId },
  before: AnyValues = {},
): Promise<Failure | undefined> {
  const named = Object.entries(references).flatMap(([name, reference]) => {
    const known = new Set(idsIn(name, before[name]).map(({ id }) => id));
    return idsIn(name, given[name])
      .filter(({ id }) => !known.has(id))
      .map((one) => ({ ...one, reference }));
  });
  const exists = await Promise.all(named.map(({ id, reference }) => reference.exists(aggregates, tenantId, id)));
  const unknown = named.filter((_, at) => !exists[at]);
  return refuseTogether(...unknown.map(({ field, reference }) => invalid(field, `is not the id of ${reference.what}`)));
}

/** All ids in fields that name records. */
export const namedIn = (references: References, given: AnyValues): readonly string[] =>
  Object.keys(references).flatMap((name) => idsIn(name, given[name]).map(({ id }) => id));

const idsIn = (field: string, value: unknown): { readonly field: string; readonly id: string }[] =>
  Array.isArray(value)
    ? value.map((id: string, at) => ({ field: `${field}.${at}`, id }))
    : typeof value === 'string'
      ? [{ field, id: value }]
      : [];
